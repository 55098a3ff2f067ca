public import Errand

/// Sends nothing to a host that is down: once too many requests to it have failed, further ones throw
/// ``ResilienceError/Code/breakerOpen`` at once, until one probe succeeds.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry, .breaker])
/// ```
///
/// It stands before the transport, so that each attempt counts, and a cache may still respond while it is open. While
/// it is half open, one request is sent to the host, and the others are refused; if that probe is cancelled, the next
/// request takes its place. Cancelled requests do not count. A host is a name with a port.
public struct Breaker: Filter {
    /// The policy that opens it, and the time for which it stays open.
    public let policy: BreakerPolicy
    private let states: HostTable<BreakerState>

    /// Makes a breaker; agents that share it share its knowledge of each host.
    public init(_ policy: BreakerPolicy = BreakerPolicy()) {
        self.policy = policy
        states = HostTable { BreakerState($0, policy, at: $1) }
    }

    /// ``FilterStages/wire``
    public var stages: FilterStages { .wire }

    /// The conditions that open it, in numbers.
    public var explanation: String {
        let percent = (policy.failureShare * 100).rounded()
        let share = percent >= 0 && percent <= 100 ? "\(Int(percent)) %" : "a share"
        return "breaker: opens if \(share) of \(policy.minimumRequests) requests or more to a host fail"
    }

    /// A timeout or fault injection around it is misplaced.
    public func orderProblem(after outer: any Filter) -> String? {
        switch outer {
        case is AttemptTimeout: "an attempt that takes too long is cancelled, and does not count as a failure"
        case is FaultInjection: "what is injected is not seen by the breaker"
        case is Breaker: "both count every request, and the first to open refuses it; one of them is enough"
        default: nil
        }
    }

    /// Refuses the request, or sends it and counts the result.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let (state, ticket) = try enter(exchange)
        do {
            let response = try await next(exchange)
            leave(state, ticket, result(of: response), exchange)
            return response
        } catch {
            leave(state, ticket, result(of: error), exchange)
            throw error
        }
    }

    private func enter(_ exchange: Exchange) throws -> (BreakerState, BreakerState.Ticket) {
        let now = exchange.time.now
        return try states.use(exchange.http, at: now) { state in try state.enter(at: now).map { (state, $0) } }
    }

    private func leave(
        _ state: BreakerState, _ ticket: BreakerState.Ticket, _ result: BreakerState.Result, _ exchange: Exchange
    ) {
        guard let change = state.leave(ticket, result, at: exchange.time.now) else { return }
        exchange.note("breaker", change.message, details: BreakerNote(host: state.host, isOpen: change.isOpen))
    }

    private func result(of response: HTTPResponse) -> BreakerState.Result {
        guard policy.statuses.contains(response.status) else { return .success }
        return response.headers.contains(.retryAfter) ? .neither : .failure
    }

    private func result(of error: any Error) -> BreakerState.Result {
        if error.isCancellation || Task.isCancelled { return .neither }
        guard let error = error as? ErrandError else { return .neither }
        return policy.errors.contains(error.code) ? .failure : .neither
    }
}

extension Filter where Self == Breaker {
    /// `filters: [.retry, .breaker]`
    public static var breaker: Breaker { Breaker() }

    /// `filters: [.breaker(BreakerPolicy(failureShare: 0.2))]`
    public static func breaker(_ policy: BreakerPolicy) -> Breaker { Breaker(policy) }
}

/// The details of the note named "breaker" with which a breaker reports that it has opened or closed for a host.
public struct BreakerNote: Sendable, Hashable {
    /// Name and port of the host.
    public let host: String
    /// Whether it refuses requests now; a probe that fails opens it anew.
    public let isOpen: Bool
}

/// The conditions that open a breaker, and the time for which it stays open.
public struct BreakerPolicy: Sendable {
    /// The share of failures that opens it, 0.5 by default.
    public var failureShare: Double
    /// The minimum number of requests for a share to count; 10 by default.
    public var minimumRequests: Int
    /// The time for which a result counts; 30 seconds by default.
    public var window: Duration
    /// The time for which it stays open before one request may probe the host; 5 seconds by default. Doubles with each
    /// probe that fails.
    public var pause: Duration
    /// The maximum pause; a minute by default.
    public var maximumPause: Duration = .seconds(60)
    /// The statuses that count as failures: 500 to 599 by default, except 501 and 505. One with a `Retry-After` does
    /// not count: the host is up, and the gate lets it rest.
    public var statuses = StatusCodes(500...500, 502...504, 506...599)
    /// The errors that count as failures: `timedOut`, `cannotConnect`, `connectionLost`, `nameLookupFailed` and
    /// `truncated` by default.
    public var errors: Set<ErrandError.Code> = .retryable

    /// Makes a policy; the defaults are those of the properties.
    public init(
        failureShare: Double = 0.5, minimumRequests: Int = 10, window: Duration = .seconds(30),
        pause: Duration = .seconds(5)
    ) {
        (self.failureShare, self.minimumRequests) = (failureShare, minimumRequests)
        (self.window, self.pause) = (window, pause)
    }
}
