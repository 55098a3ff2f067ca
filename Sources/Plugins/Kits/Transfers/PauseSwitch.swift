import Synchronization

/// Pauses and resumes transfers, from any thread.
package final class PauseSwitch: Sendable {
    private struct State {
        var isPaused = false
        var lastID = 0
        var interrupts: [Int: @Sendable () -> Bool] = [:]
        var interrupted: Set<Int> = []
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Interrupts what runs interruptibly.
    package func pause() {
        let interrupts = state.withLock { state in
            state.isPaused = true
            return state.interrupts
        }
        for (id, interrupt) in interrupts { run(interrupt, id) }
    }

    package func resume() {
        let waiters = state.withLock { state in
            state.isPaused = false
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        waiters.forEach { $0.resume() }
    }

    /// Returns once it is not paused. Throws when the task is cancelled.
    package func waitUntilResumed() async throws {
        guard isPaused else { return }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, any Error>) in
                let (isOver, isCancelled) = state.withLock { state in
                    let isCancelled = Task.isCancelled
                    if state.isPaused && !isCancelled { state.waiters[id] = waiter }
                    return (!state.isPaused, isCancelled)
                }
                if isCancelled { waiter.resume(throwing: CancellationError()) } else if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    /// Records the interruption first, so that the interrupted body can see its reason.
    private func run(_ interrupt: @Sendable () -> Bool, _ id: Int) {
        state.withLock { _ = $0.interrupted.insert(id) }
        if !interrupt() { state.withLock { _ = $0.interrupted.remove(id) } }
    }

    /// Runs a body that `pause()` interrupts, at once if it is paused already: then this throws ``PauseInterruption``.
    /// `interrupt` returns whether it interrupted anything.
    package func interruptible<Value>(
        _ interrupt: @escaping @Sendable () -> Bool, _ body: () async throws -> Value
    ) async throws -> Value {
        let (id, isPaused) = state.withLock { state in
            state.lastID += 1
            state.interrupts[state.lastID] = interrupt
            return (state.lastID, state.isPaused)
        }
        defer {
            state.withLock { state in
                state.interrupts[id] = nil
                state.interrupted.remove(id)
            }
        }
        if isPaused { run(interrupt, id) }
        do { return try await body() } catch {
            throw state.withLock({ $0.interrupted.contains(id) }) && !Task.isCancelled ? PauseInterruption() : error
        }
    }
}

/// A transfer ended because it was paused; never thrown to a caller.
package struct PauseInterruption: Error {
    package init() {}
}
