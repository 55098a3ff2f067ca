public import Errand
import Synchronization

/// Limits the time of each attempt, even while bytes arrive.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry, .attemptTimeout(.seconds(10))])
/// ```
///
/// A request's `timeout` limits inactivity, and its `deadline` limits the whole call. This filter instead limits each
/// attempt, from its start until the response is in memory. For a streamed response, the attempt ends when the head has
/// arrived.
///
/// When the time is up, the attempt throws `ErrandError` with `timedOut`. Retries repeat such an attempt, and breakers
/// count it as a failure. The filter runs right before the transport, after host limits and breakers.
public struct AttemptTimeoutFilter: Filter {
    /// The longest time of an attempt.
    public let timeout: Duration

    /// Creates a filter. If `timeout` is zero or negative, every attempt that has to wait fails.
    public init(_ timeout: Duration) { self.timeout = timeout }

    /// Runs in the stage ``FilterStages/wire``.
    public var stages: FilterStages { .wire }

    /// The filter's line in the agent's `explain`.
    public var explanation: String { "ends an attempt after \(duration: timeout)" }

    /// Reports a problem if fault injection is an outer filter.
    public func orderProblem(after outer: any Filter) -> String? {
        outer is FaultInjectionFilter ? "the timeout doesn't end injected faults" : nil
    }

    /// Sends the request. When the time is up, cancels the request and throws `ErrandError` with `timedOut`.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let attempt = SentTask(exchange, next)
        if attempt.isFinished { return try await attempt.value }
        let time = exchange.time
        let end = time.instant(after: timeout)
        let isLate = LateMark()
        let timer = Task {
            await time.wait(until: end)
            if Task.isCancelled { return }
            isLate.set()
            attempt.cancel()
        }
        defer { timer.cancel() }
        do { return try await attempt.joined() } catch  where error.isCancellation && isLate.isSet && !Task.isCancelled
        {
            throw ErrandError(.timedOut, "the attempt took longer than \(duration: timeout)")
        }
    }
}

private final class LateMark: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

extension Filter where Self == AttemptTimeoutFilter {
    /// Creates a filter that limits the time of each attempt: `filters: [.retry, .attemptTimeout(.seconds(10))]`.
    public static func attemptTimeout(_ timeout: Duration) -> AttemptTimeoutFilter { AttemptTimeoutFilter(timeout) }
}
