public import Errand
import Synchronization

/// Pauses and resumes transfers, from any thread.
///
/// ```swift
/// let control = TransferControl()
/// let download = agent.download(GetVideo(destination: folder), control: control)
/// control.pause()      // closes the connections; what has arrived is kept
/// control.resume()     // transfers the rest
/// ```
///
/// A transfer that would start over keeps its connection and stops reading. While it is paused, only the request's deadline
/// applies. One control may serve several transfers.
public final class TransferControl: Sendable {
    private struct State {
        var isPaused = false
        var lastID = 0
        var interrupts: [Int: @Sendable () -> Bool] = [:]
        var interrupted: Set<Int> = []
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Mutex(State())

    /// Creates a control that isn't paused.
    public init() {}

    /// Whether ``pause()`` was called and ``resume()`` was not.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Pauses the transfers; what has arrived is kept.
    public func pause() {
        let interrupts = state.withLock { state in
            state.isPaused = true
            return state.interrupts
        }
        for (id, interrupt) in interrupts { run(interrupt, id) }
    }

    /// Resumes the transfers.
    public func resume() {
        let waiters = state.withLock { state in
            state.isPaused = false
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        waiters.forEach { $0.resume() }
    }

    /// Returns once the control isn't paused. Throws `CancellationError` when the task is cancelled.
    public func waitUntilResumed() async throws {
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

    /// Runs a body that ``pause()`` interrupts, at once if the control is paused already: then this throws
    /// ``PauseInterruption``.
    ///
    /// - Parameter interrupt: ends the body, and returns whether it did.
    public func interruptible<Value>(
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

    /// The response to a request. A pause that comes before it ends the request if `mayInterrupt` says so, and this throws
    /// ``PauseInterruption``; the body isn't interrupted by it.
    ///
    /// - Parameter onStart: receives a closure that ends the request as a pause does.
    public func send(
        _ exchange: Exchange, _ next: Next, mayInterrupt: @escaping @Sendable () -> Bool,
        onStart: (@escaping @Sendable () -> Void) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        let sending = Task { try await next(exchange) }
        onStart { sending.cancel() }
        let response = try await withTaskCancellationHandler {
            try await interruptible {
                guard mayInterrupt() else { return false }
                sending.cancel()
                return true
            } _: {
                try await sending.value
            }
        } onCancel: {
            sending.cancel()
        }
        if !sending.isCancelled { return response }
        // The interruption came between the head and this line: the body was cancelled with its task.
        response.body.cancel()
        try Task.checkCancellation()
        throw PauseInterruption()
    }
}

/// A transfer ended because it was paused; filters catch it and never throw it to a caller.
public struct PauseInterruption: Error {
    /// Creates the error.
    public init() {}
}
