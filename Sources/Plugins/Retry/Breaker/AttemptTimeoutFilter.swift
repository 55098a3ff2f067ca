public import Errand
import Synchronization

/// Limits the time of each attempt, even while bytes arrive.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry, .attemptTimeout(.seconds(10))])
/// ```
///
/// A request's `timeout` limits inactivity, and its `deadline` limits the whole call. This filter limits one request on
/// the wire, until its response is in memory or until the head of a stream has arrived. Then it throws `ErrandError`
/// with `timedOut`, which retries repeat and breakers count. It runs right before the transport, after host limits and
/// breakers.
public struct AttemptTimeoutFilter: Filter {
    /// The longest time of an attempt.
    public let timeout: Duration

    /// Creates a filter. With zero or a negative time, every attempt that has to wait fails.
    public init(_ timeout: Duration) { self.timeout = timeout }

    /// Runs in the stage ``FilterStages/wire``.
    public var stages: FilterStages { .wire }

    /// The filter's line in the agent's `explain`.
    public var explanation: String { "ends an attempt after \(duration: timeout)" }

    /// Reports a problem if fault injection is an outer filter.
    public func orderProblem(after outer: any Filter) -> String? {
        outer is FaultInjectionFilter ? "the timeout doesn't end injected faults" : nil
    }

    /// Sends the request. Cancels it and throws `ErrandError` with `timedOut` when the time is up.
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
