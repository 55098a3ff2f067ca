public import Errand
import ErrandEssentials

/// Sends a second request when the first one is slower than 95 % of the earlier ones, and takes the response that
/// arrives first.
///
/// ```swift
/// let hedge = Hedge()
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry, hedge])
/// ```
///
/// The other request is cancelled. At most 5 % more requests are sent; see ``HedgePolicy``. It applies to requests of
/// idempotent methods (RFC 9110, section 9.2.2), or as ``HedgePolicy/isRepeatable`` says, whose body is kept in memory:
/// no streams, no files. Both requests are
/// attempts of the same activity. Install it after a retry and before filters that sign. To hedge only some calls, keep
/// one filter and pass it to `CallOptions(filters: [hedge])`: it has to see calls before it knows which are slow.
public struct Hedge: Filter {
    /// The policy for second requests.
    public let policy: HedgePolicy
    private let histories: HostTable<HedgeHistory>

    /// Makes a filter; agents that share it share its knowledge of each host.
    public init(_ policy: HedgePolicy = HedgePolicy()) {
        self.policy = policy
        histories = HostTable(maximum: 10_000) { _, _ in HedgeHistory(policy) }
    }

    /// The conditions for a second request, in numbers.
    public var explanation: String {
        func percent(_ share: Double) -> Int { share >= 0 ? Int((min(share, 1) * 100).rounded()) : 0 }
        return "hedges what is slower than \(percent(policy.percentile)) % of the requests before it, "
            + "at most \(percent(policy.share)) % of them"
    }

    /// A signature around it is misplaced, and so is another hedge.
    public func orderProblem(after outer: any Filter) -> String? {
        if outer is Hedge { return "each of the two requests would be hedged again" }
        return outer.traits.contains(.signs) ? "both requests carry one signature, with its time" : nil
    }

    /// Sends once or twice, and returns the first good response.
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
            // Slower than the earlier ones, not equally slow. A budget that is used up may have grown a little later.
            var elapsed = delay
            while true {
                let instant = start.advanced(by: elapsed + .microseconds(1))
                guard (try? await time.sleep(until: instant)) != nil, !race.isDecided else { return }
                if history.spend() { break }
                exchange.note("hedge", "none: the budget of the host is used up after \(duration: elapsed)")
                elapsed = (elapsed * 2).bounded
            }
            let second = race.start {
                exchange.note("hedge", "a second request, since there is no response after \(duration: elapsed)")
                return HedgedRequest(exchange, next)
            }
            guard let second else { return history.refund() }
            let outcome = await second.task.result
            let isGood = Self.isGood(outcome)
            // The first one had taken this long at least.
            if race.finish(outcome, of: 1, isGood: isGood), isGood { history.add(start.duration(to: time.now)) }
        }
        defer { timer.cancel() }
        let result: HedgeRace.Outcome
        do { result = .success(try await race.value()) } catch { result = .failure(error) }
        await race.share()
        return try result.get()
    }

    /// Whether the request may be sent twice at the same time.
    private func isEligible(_ exchange: Exchange) -> Bool {
        guard exchange.delivery == .data, exchange.http.body.isReplayable, !isForFile(exchange.request) else {
            return false
        }
        return policy.isRepeatable ?? exchange.http.method.isIdempotent
    }

    /// Whether the output is the URL of a file, which two requests would write at once.
    private func isForFile<R: Request>(_ request: R) -> Bool { R.Output.self == URL.self || R.Output.self == URL?.self }

    private static func isGood(_ outcome: HedgeRace.Outcome) -> Bool {
        guard case .success(let response) = outcome else { return false }
        return response.status < 500 && response.status != 408 && response.status != 429
    }

    /// Whether the duration of the response is typical of the host.
    private static func isSample(_ response: HTTPResponse) -> Bool {
        isGood(.success(response)) && !response.source.isStored
    }
}

extension Filter where Self == Hedge {
    /// `filters: [.retry, .hedge]`
    public static var hedge: Hedge { Hedge() }

    /// `filters: [.retry, .hedge(HedgePolicy(share: 0.02))]`
    public static func hedge(_ policy: HedgePolicy) -> Hedge { Hedge(policy) }
}
