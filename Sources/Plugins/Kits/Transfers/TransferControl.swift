public import Errand
import Synchronization

/// Pauses and resumes transfers. Safe to use from any thread.
///
/// ```swift
/// let control = TransferControl()
/// let download = agent.download(GetVideo(destination: folder), control: control)
/// control.pause()      // closes the connections, keeps the received bytes
/// control.resume()     // transfers the rest
/// ```
///
/// A transfer that couldn't resume keeps its connection and stops reading instead. While a transfer is paused, only the
/// request's deadline applies. You can use one control for several transfers.
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

    /// Whether transfers are paused: true from ``pause()`` to ``resume()``.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Pauses the transfers, and keeps the bytes transferred so far.
    public func pause() {
        let interrupts = state.withLock { state in
            state.isPaused = true
            return state.interrupts
        }
        for (id, interrupt) in interrupts { run(interrupt, id) }
    }

    /// Resumes the transfers. Each continues after the bytes it has already transferred.
    public func resume() {
        let waiters = state.withLock { state in
            state.isPaused = false
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        waiters.forEach { $0.resume() }
    }

    /// Returns once the control isn't paused. Throws `CancellationError` if the task is cancelled.
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

    /// Record the interruption first, so the interrupted body can see why it ended.
    private func run(_ interrupt: @Sendable () -> Bool, _ id: Int) {
        state.withLock { _ = $0.interrupted.insert(id) }
        if !interrupt() { state.withLock { _ = $0.interrupted.remove(id) } }
    }

    /// Runs a body that ``pause()`` can interrupt, in which case this throws ``PauseInterruption``. If the control is
    /// already paused, the interruption comes immediately.
    ///
    /// - Parameters:
    ///   - interrupt: Ends the body, and returns whether it did.
    ///   - body: The work that a pause ends.
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

    /// Sends a request and returns its response. A pause before the response arrives ends the request if `mayInterrupt`
    /// returns `true`, and this throws ``PauseInterruption``. A pause doesn't interrupt the response's body.
    ///
    /// - Parameters:
    ///   - exchange: The exchange to send.
    ///   - next: The remaining filters and the transport.
    ///   - mayInterrupt: Returns whether a pause may end the request now.
    ///   - onStart: Receives a closure that ends the request like a pause. Defaults to ignoring it.
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
        // The interruption came after the head arrived, and it cancelled the body along with its task.
        response.body.cancel()
        try Task.checkCancellation()
        throw PauseInterruption()
    }
}

/// The error that ends a transfer's request when the transfer is paused. Filters catch this error and never throw it to
/// callers.
public struct PauseInterruption: Error {
    /// Creates the error, for a filter that transfers files.
    public init() {}
}
