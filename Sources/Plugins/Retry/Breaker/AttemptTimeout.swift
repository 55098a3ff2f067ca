public import Errand
import Synchronization

/// Ends an attempt that takes too long, whatever arrives meanwhile.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry, .attemptTimeout(.seconds(10))])
/// ```
///
/// `timeout` of a request is its longest inactivity, and `deadline` the time for the whole call; this is the time for one
/// request on the wire, until its response is in memory, or until the head of a stream. It throws `ErrandError` with
/// `timedOut`, which a retry repeats and a breaker counts. It stands before the transport, after gates and breakers.
public struct AttemptTimeout: Filter {
    /// The longest time of an attempt.
    public let limit: Duration

    /// Makes a timeout; zero or less ends every attempt that has to wait.
    public init(_ limit: Duration) { self.limit = limit }

    /// ``FilterStages/wire``
    public var stages: FilterStages { .wire }

    /// The limit.
    public var explanation: String { "ends an attempt after \(limit)" }

    /// Faults around it are in the wrong place.
    public func orderProblem(after outer: any Filter) -> String? {
        outer is FaultInjection ? "what is injected does not end by the timeout" : nil
    }

    /// Sends, and cancels what is not there in time.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let attempt = SentTask(exchange, next)
        if attempt.isFinished { return try await attempt.value }
        let time = exchange.time
        let end = time.now.advanced(by: min(max(limit, .zero), .seconds(3_155_760_000 as Int64)))
        let isLate = LateMark()
        let timer = Task {
            guard (try? await time.sleep(until: end)) != nil else { return }
            isLate.set()
            attempt.cancel()
        }
        defer { timer.cancel() }
        do { return try await attempt.joined() } catch  where error.isCancellation && isLate.isSet && !Task.isCancelled
        {
            throw ErrandError(.timedOut, "the attempt took longer than \(limit)")
        }
    }
}

private final class LateMark: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

extension Filter where Self == AttemptTimeout {
    /// `filters: [.retry, .attemptTimeout(.seconds(10))]`
    public static func attemptTimeout(_ limit: Duration) -> AttemptTimeout { AttemptTimeout(limit) }
}
