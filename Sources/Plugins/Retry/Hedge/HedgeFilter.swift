public import Errand
import ErrandEssentials
import Synchronization

/// Sends a second request if the first is slow, and uses the first good response.
///
/// ```swift
/// let hedge = HedgeFilter()
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry, hedge])
/// ```
///
/// By default, a request is slow if it takes longer than 95 % of the recent requests to its host. When a good response
/// arrives, the filter cancels the other request. By default, hedging adds at most 5 % more requests. See
/// ``HedgePolicy``.
///
/// The filter hedges only requests with idempotent methods (RFC 9110, section 9.2.2), unless
/// ``HedgePolicy/isRepeatable`` specifies otherwise. A request's body must be in memory. To accessories, both requests
/// are attempts of the same activity.
///
/// Install the filter after a retry and before filters that sign. To hedge only some calls, create one filter and pass
/// it to each of them with `CallOptions(filters: [hedge])`, so it learns from earlier calls.
public struct HedgeFilter: Filter {
    /// The policy that decides when to send a second request.
    public let policy: HedgePolicy
    private let histories: HostTable<HedgeHistory>

    /// Creates a filter. Agents that use the same filter share the history of each host.
    public init(_ policy: HedgePolicy = HedgePolicy()) {
        self.policy = policy
        histories = HostTable(maximum: 10_000) { _, _ in HedgeHistory(policy) }
    }

    /// The filter's line in the agent's `explain`.
    public var explanation: String {
        func percent(_ share: Double) -> Int { share >= 0 ? Int((min(share, 1) * 100).rounded()) : 0 }
        return
            "sends a second request if the first is slower than \(percent(policy.percentile)) % of earlier requests, "
            + "for at most \(percent(policy.share)) % of requests"
    }

    /// Reports a problem if a signing filter or another hedge is an outer filter.
    public func orderProblem(after outer: any Filter) -> String? {
        if outer is HedgeFilter { return "each of the two hedged requests would be hedged again" }
        return outer.traits.contains(.signs) ? "both hedged requests carry the same signature and timestamp" : nil
    }

    /// Sends one or two requests, and returns the first good response.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard isEligible(exchange) else { return try await next(exchange) }
        let time = exchange.time
        let start = time.now
        let history = histories.record(for: exchange.http, at: start)
        guard let delay = history.begin() else {
            let response = try await next(exchange)
            if Self.isSample(response) { history.add(start.duration(to: time.now)) }
            return response
        }
        let first = HedgedRequest(exchange, next)
        if first.task.isFinished {
            let outcome = await first.task.result
            await first.count()
            let response = try outcome.get()
            if Self.isSample(response) { history.add(start.duration(to: time.now)) }
            return response
        }
        let race = HedgeRace(first)
        Task {
            let outcome = await first.task.result
            let isGood = Self.isGood(outcome)
            if race.finish(outcome, of: 0, isGood: isGood), case .success(let response) = outcome,
                Self.isSample(response)
            {
                history.add(start.duration(to: time.now))
            }
        }
        let timer = Task {
            // A request as slow as the threshold isn't hedged yet. If the budget is used up, check again later.
            var elapsed = delay
            while true {
                let instant = start.advanced(by: elapsed + .microseconds(1))
                guard (try? await time.sleep(until: instant)) != nil, !race.isDecided else { return }
                if history.spend() { break }
                exchange.note("hedge", "skipped: the host's budget is used up after \(duration: elapsed)")
                elapsed = (elapsed * 2).bounded
            }
            let second = race.start {
                exchange.note("hedge", "a second request, because there is no response after \(duration: elapsed)")
                return HedgedRequest(exchange, next)
            }
            guard let second else { return history.refund() }
            let outcome = await second.task.result
            let isGood = Self.isGood(outcome)
            // The first request would have taken at least as long.
            if race.finish(outcome, of: 1, isGood: isGood), isGood { history.add(start.duration(to: time.now)) }
        }
        defer { timer.cancel() }
        let result: HedgeRace.Outcome
        do { result = .success(try await race.value()) } catch { result = .failure(error) }
        await race.share()
        return try result.get()
    }

    private func isEligible(_ exchange: Exchange) -> Bool {
        guard exchange.delivery == .data, exchange.http.body.isReplayable, !isForFile(exchange.request) else {
            return false
        }
        return policy.isRepeatable ?? exchange.http.method.isIdempotent
    }

    /// Two requests would write the same file.
    private func isForFile<R: Request>(_ request: R) -> Bool { R.Output.self == URL.self || R.Output.self == URL?.self }

    private static func isGood(_ outcome: HedgeRace.Outcome) -> Bool {
        guard case .success(let response) = outcome else { return false }
        return response.status < 500 && response.status != 408 && response.status != 429
    }

    private static func isSample(_ response: HTTPResponse) -> Bool {
        isGood(.success(response)) && !response.source.isStored
    }
}

extension Filter where Self == HedgeFilter {
    /// Creates a filter with the default policy: `filters: [.retry, .hedge]`.
    public static var hedge: HedgeFilter { HedgeFilter() }

    /// Creates a filter with a custom policy: `filters: [.retry, .hedge(HedgePolicy(share: 0.02))]`.
    public static func hedge(_ policy: HedgePolicy) -> HedgeFilter { HedgeFilter(policy) }
}

/// The durations of recent requests to a host, and the host's budget for second requests.
final class HedgeHistory: HostRecord {
    private struct State {
        /// In nanoseconds.
        var durations: [Int64] = []
        var next = 0
        var untilSorted = 0
        var threshold: Duration?
        var tokens = 0.0
    }

    private let policy: HedgePolicy
    private let state = Mutex(State())
    private static let capacity = 256
    private static let burst = 10.0

    init(_ policy: HedgePolicy) { self.policy = policy }

    /// Running requests don't keep the record. A duration added to a retired record is lost.
    func retire(at now: ContinuousClock.Instant, isForced: Bool) -> Bool {
        isForced || state.withLock { $0.durations.isEmpty && $0.tokens == 0 }
    }

    /// Returns the delay before a second request, or nil if too few durations are known.
    func begin() -> Duration? {
        let share = policy.share > 0 ? min(policy.share, 1) : 0
        return state.withLock { state in
            state.tokens = min(state.tokens + share, Self.burst)
            return state.threshold
        }
    }

    func spend() -> Bool {
        state.withLock { state in
            // Rounding: the sum of twenty shares of 0.05 isn't exactly 1.
            guard state.tokens >= 1 - 1e-9 else { return false }
            state.tokens -= 1
            return true
        }
    }

    func refund() { state.withLock { $0.tokens = min($0.tokens + 1, Self.burst) } }

    /// For a request that lost the race, this is the time until it lost.
    func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.bounded.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        state.withLock { state in
            if state.durations.count < Self.capacity {
                state.durations.append(nanoseconds)
            } else {
                state.durations[state.next] = nanoseconds
                state.next = (state.next + 1) % Self.capacity
            }
            guard state.durations.count >= max(2, policy.minimumSamples) else { return }
            state.untilSorted -= 1
            if state.untilSorted > 0 { return }
            // Sorting is expensive, so it's less frequent once many durations are known.
            let count = state.durations.count
            state.untilSorted = count < Self.capacity ? count / 4 : count
            let part = policy.percentile > 0 ? min(policy.percentile, 1) : 0
            let index = Int((Double(state.durations.count) * part).rounded(.up)) - 1
            let threshold = state.durations.sorted()[max(0, min(index, state.durations.count - 1))]
            state.threshold = max(.nanoseconds(threshold), policy.minimumDelay)
        }
    }
}

/// When ``HedgeFilter`` sends a second request.
public struct HedgePolicy: Sendable, Hashable {
    /// The maximum share of calls for which a second request is sent, from 0 to 1. Defaults to 0.05.
    public var share: Double
    /// How slow a request must be, as the share of recent requests to its host that were faster. Defaults to 0.95.
    public var percentile: Double
    /// The minimum number of earlier requests to a host before the filter hedges requests to that host. Defaults to 20.
    public var minimumSamples: Int
    /// The shortest wait before a second request. Defaults to 1 millisecond.
    public var minimumDelay: Duration = .milliseconds(1)
    /// Whether requests can be sent twice. Defaults to nil, which allows it only for requests with idempotent methods.
    public var isRepeatable: Bool?

    /// Creates a policy. Arguments default to the values of the properties.
    public init(share: Double = 0.05, percentile: Double = 0.95, minimumSamples: Int = 20) {
        self.share = share
        self.percentile = percentile
        self.minimumSamples = minimumSamples
    }
}

/// Keeps the checks and staged work of later filters until the winner is known.
struct HedgedRequest: Sendable {
    let task: SentTask
    private let exchange: Exchange
    private let shared: SharedExchange

    init(_ exchange: Exchange, _ next: Next) {
        let shared = SharedExchange(for: HedgedCall(exchange))
        task = SentTask { try await shared.send(exchange, next: next) }
        (self.exchange, self.shared) = (exchange, shared)
    }

    func count() async { await shared.distribute(to: [exchange]) }

    /// Includes the checks and staged work that the loser's filters still add.
    func discard() async {
        if task.isFinished { await end() } else { Task { await end() } }
    }

    private func end() async {
        _ = await task.result
        await shared.distribute(to: [])
    }
}

private final class HedgedCall: ExchangeSharing {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    var deadline: ContinuousClock.Instant? { exchange.deadline }
    func report(_ event: TransportEvent) { exchange.report(event) }
}
