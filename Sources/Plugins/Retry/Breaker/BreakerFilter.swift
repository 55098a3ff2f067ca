public import Errand

/// A circuit breaker that stops sending requests to a host that is down.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry, .breaker])
/// ```
///
/// A host's breaker opens when too many requests to the host have failed. While the breaker is open, requests throw
/// ``ResilienceError/Code/breakerOpen``. After a pause, the breaker sends a single request as a probe, and still
/// rejects all others. If the probe succeeds, the breaker closes. If the probe fails, the breaker stays open for a
/// longer pause. If the probe is cancelled, the next request becomes the probe.
///
/// The breaker runs right before the transport, so it counts each attempt, and caches can respond while it's open. Each
/// port of a host has its own breaker. Cancelled requests don't count. If the call's deadline ends an attempt that has
/// run for at least a second, the attempt counts as a failure.
public struct BreakerFilter: Filter {
    /// The policy that decides when a breaker opens, and for how long.
    public let policy: BreakerPolicy
    private let states: HostTable<BreakerState>

    /// Creates a breaker. Agents that use the same breaker share the state of each host.
    public init(_ policy: BreakerPolicy = BreakerPolicy()) {
        self.policy = policy
        states = HostTable { BreakerState($0, policy, at: $1) }
    }

    /// Runs in the stage ``FilterStages/wire``.
    public var stages: FilterStages { .wire }

    /// The filter's line in the agent's `explain`.
    public var explanation: String {
        let percent = (policy.failureShare * 100).rounded()
        let share = percent >= 0 && percent <= 100 ? "\(Int(percent)) %" : "an invalid share (\(policy.failureShare))"
        return "breaker: opens if \(share) of \(policy.minimumRequests) requests or more to a host fail"
    }

    /// Reports a problem if an attempt timeout, fault injection or another breaker is an outer filter.
    public func orderProblem(after outer: any Filter) -> String? {
        switch outer {
        case is AttemptTimeoutFilter: "the breaker doesn't count attempts that the timeout cancels"
        case is FaultInjectionFilter: "the breaker doesn't see injected faults"
        case is BreakerFilter: "both breakers count every request, and either can reject it; use only one of them"
        default: nil
        }
    }

    /// Rejects the request if the host's breaker is open. Otherwise sends it and counts its result.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let begin = exchange.time.now
        let (state, ticket) = try enter(exchange, at: begin)
        do {
            let response = try await next(exchange)
            leave(state, with: ticket, result: result(of: response), exchange: exchange)
            return response
        } catch {
            leave(state, with: ticket, result: result(of: error, since: begin, exchange), exchange: exchange)
            throw error
        }
    }

    private func enter(
        _ exchange: Exchange, at now: ContinuousClock.Instant
    ) throws -> (BreakerState, BreakerState.Ticket) {
        try states.use(exchange.http, at: now) { state in try state.enter(at: now).map { (state, $0) } }
    }

    private func leave(
        _ state: BreakerState, with ticket: BreakerState.Ticket, result: BreakerState.Result, exchange: Exchange
    ) {
        guard let change = state.leave(ticket, result, at: exchange.time.now) else { return }
        exchange.note("breaker", change.message, details: BreakerNote(host: state.host, isOpen: change.isOpen))
    }

    private func result(of response: HTTPResponse) -> BreakerState.Result {
        guard policy.statuses.contains(response.status) else { return .success }
        return response.headers.contains(.retryAfter) ? .neither : .failure
    }

    private func result(
        of error: any Error, since begin: ContinuousClock.Instant, _ exchange: Exchange
    ) -> BreakerState.Result {
        if error.isCancellation || Task.isCancelled {
            return hasTakenTooLong(exchange, since: begin) ? .failure : .neither
        }
        guard let error = error as? ErrandError else { return .neither }
        return policy.errors.contains(error.code) ? .failure : .neither
    }

    /// An attempt of at least a second that the call's deadline ended counts as a failure of the host.
    private func hasTakenTooLong(_ exchange: Exchange, since begin: ContinuousClock.Instant) -> Bool {
        guard policy.errors.contains(.timedOut), let deadline = exchange.deadline else { return false }
        let now = exchange.time.now
        return deadline <= now && begin.duration(to: now) >= .seconds(1)
    }
}

extension Filter where Self == BreakerFilter {
    /// Creates a breaker: `filters: [.retry, .breaker]`.
    public static var breaker: BreakerFilter { BreakerFilter() }

    /// Creates a breaker with a custom policy: `filters: [.breaker(BreakerPolicy(failureShare: 0.2))]`.
    public static func breaker(_ policy: BreakerPolicy) -> BreakerFilter { BreakerFilter(policy) }
}

/// The details of the note "breaker", which accessories receive when a breaker opens or closes.
public struct BreakerNote: Sendable, Hashable {
    /// The host's name and port.
    public let host: String
    /// Whether the breaker now rejects requests. Also true after a failed probe.
    public let isOpen: Bool
}

/// When a breaker opens, and how long it stays open.
public struct BreakerPolicy: Sendable {
    /// The share of failed requests at which the breaker opens, from 0 to 1. Defaults to 0.5.
    public var failureShare: Double
    /// The minimum number of requests to a host within the window before the breaker can open. Defaults to 10.
    public var minimumRequests: Int
    /// How long a result counts after a request has ended. Defaults to 30 seconds.
    public var window: Duration
    /// The time that the breaker stays open before it sends a probe. The time doubles with each failed probe. Defaults
    /// to 5 seconds.
    public var pause: Duration
    /// The longest pause after repeated failed probes. Defaults to 60 seconds.
    public var maximumPause: Duration = .seconds(60)
    /// The statuses that count as failures. Defaults to 500 to 599 except 501 and 505.
    ///
    /// A response with `Retry-After` doesn't count, because the host is up.
    public var statuses = StatusCodes(500...500, 502...504, 506...599)
    /// The errors that count as failures. Defaults to `timedOut`, `cannotConnect`, `connectionLost`, `nameLookupFailed`
    /// and `truncated`. If the set contains `timedOut`, attempts that the call's deadline ends after at least a second
    /// also count.
    public var errors: Set<ErrandError.Code> = .retryable

    /// Creates a policy. Arguments default to the values of the properties.
    public init(
        failureShare: Double = 0.5, minimumRequests: Int = 10, window: Duration = .seconds(30),
        pause: Duration = .seconds(5)
    ) {
        (self.failureShare, self.minimumRequests) = (failureShare, minimumRequests)
        (self.window, self.pause) = (window, pause)
    }
}
