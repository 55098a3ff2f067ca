public import Errand
import ErrandEssentials

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
        let hedge = Hedge(exchange: exchange, next: next, start: start, history: history, race: race)
        Task { await hedge.follow(first) }
        let timer = Task { await hedge.sendSecond(after: delay) }
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

    fileprivate static func isGood(_ outcome: HedgeRace.Outcome) -> Bool {
        guard case .success(let response) = outcome else { return false }
        return response.status < 500 && response.status != 408 && response.status != 429
    }

    fileprivate static func isSample(_ response: HTTPResponse) -> Bool {
        isGood(.success(response)) && !response.source.isStored
    }
}

/// The work for one request that may be hedged. It runs in tasks, while the filter waits for the race's value.
private struct Hedge: Sendable {
    let exchange: Exchange
    let next: Next
    let start: ContinuousClock.Instant
    let history: HedgeHistory
    let race: HedgeRace

    private var elapsed: Duration { start.duration(to: exchange.time.now) }

    /// Passes the first request's outcome to the race.
    func follow(_ first: HedgedRequest) async {
        let outcome = await first.task.result
        let isGood = HedgeFilter.isGood(outcome)
        if race.finish(outcome, of: 0, isGood: isGood), case .success(let response) = outcome,
            HedgeFilter.isSample(response)
        {
            history.add(elapsed)
        }
    }

    /// Sends a second request if the race isn't decided after the delay, and passes its outcome to the race.
    func sendSecond(after delay: Duration) async {
        guard let wait = await waitForBudget(after: delay) else { return }
        let second = race.start {
            exchange.note("hedge", "a second request, because there is no response after \(duration: wait)")
            return HedgedRequest(exchange, next)
        }
        guard let second else { return history.refund() }
        let outcome = await second.task.result
        let isGood = HedgeFilter.isGood(outcome)
        // The first request would have taken at least as long.
        if race.finish(outcome, of: 1, isGood: isGood), isGood { history.add(elapsed) }
    }

    /// Waits until the delay is over and the host's budget allows a second request. Returns how long the request has
    /// taken by then, or nil if the race was decided meanwhile.
    private func waitForBudget(after delay: Duration) async -> Duration? {
        var wait = delay
        while true {
            // A request as slow as the threshold isn't hedged yet. If the budget is used up, check again later.
            let instant = start.advanced(by: wait + .microseconds(1))
            guard (try? await exchange.time.sleep(until: instant)) != nil, !race.isDecided else { return nil }
            if history.spend() { return wait }
            exchange.note("hedge", "skipped: the host's budget is used up after \(duration: wait)")
            wait = (wait * 2).bounded
        }
    }
}

extension Filter where Self == HedgeFilter {
    /// Creates a filter with the default policy: `filters: [.retry, .hedge]`.
    public static var hedge: HedgeFilter { HedgeFilter() }

    /// Creates a filter with a custom policy: `filters: [.retry, .hedge(HedgePolicy(share: 0.02))]`.
    public static func hedge(_ policy: HedgePolicy) -> HedgeFilter { HedgeFilter(policy) }
}
