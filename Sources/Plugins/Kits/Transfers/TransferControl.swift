public import Errand
import Synchronization

/// Pauses and resumes transfers, from any thread.
///
/// ```swift
/// let control = TransferControl()
/// let download = agent.download(GetVideo(destination: folder), control: control)
/// control.pause()      // closes the connections, keeps the received bytes
/// control.resume()     // transfers the rest
/// ```
///
/// If a transfer can't be resumed, pausing keeps its connection open and only stops reading. While a transfer is
/// paused, only the request's deadline applies. One control can pause several transfers.
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

    /// Whether transfers are paused.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Pauses the transfers. Transferred bytes are kept.
    public func pause() {
        let interrupts = state.withLock { state in
            state.isPaused = true
            return state.interrupts
        }
        for (id, interrupt) in interrupts { run(interrupt, id) }
    }

    /// Resumes the transfers. Each one continues after the bytes that it has transferred.
    public func resume() {
        let waiters = state.withLock { state in
            state.isPaused = false
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        waiters.forEach { $0.resume() }
    }

    /// Waits while the control is paused. Throws `CancellationError` if the task is cancelled.
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

    /// Records the interruption first, so the body can find out why it ended.
    private func run(_ interrupt: @Sendable () -> Bool, _ id: Int) {
        state.withLock { _ = $0.interrupted.insert(id) }
        if !interrupt() { state.withLock { _ = $0.interrupted.remove(id) } }
    }

    /// Runs a body that ``pause()`` can interrupt, and then throws ``PauseInterruption``. If the control is already
    /// paused, interrupts the body immediately.
    ///
    /// - Parameter interrupt: Ends the body, and returns whether it could.
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

    /// Sends a request and returns its response. If a pause ends the request before its response arrives, throws
    /// ``PauseInterruption``. A pause doesn't interrupt the response's body.
    ///
    /// - Parameters:
    ///   - mayInterrupt: Returns whether a pause may end the request now.
    ///   - onStart: Receives a closure that ends the request like a pause.
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
        // The request was cancelled after the response's head had arrived.
        response.body.cancel()
        try Task.checkCancellation()
        throw PauseInterruption()
    }
}

/// The error of a request that a pause ended. The transfer's filter catches this error, so callers don't receive it.
public struct PauseInterruption: Error {
    /// Creates the error, for a filter that transfers files.
    public init() {}
}
