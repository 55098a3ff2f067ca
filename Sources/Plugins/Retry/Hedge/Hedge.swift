public import Errand
import ErrandEssentials
import Synchronization

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

/// The durations of the last requests to one host, and the number of second ones that it may get.
final class HedgeHistory: HostRecord {
    private struct State {
        /// The durations in nanoseconds.
        var durations: [Int64] = []
        var next = 0
        var untilSorted = 0
        var threshold: Duration?
        /// The number of calls times the share, less the second requests that were sent.
        var tokens = 0.0
    }

    private let policy: HedgePolicy
    private let state = Mutex(State())
    private static let capacity = 256
    private static let burst = 10.0

    init(_ policy: HedgePolicy) { self.policy = policy }

    /// A running request may still be added to it: only its duration is lost.
    func retire(at now: ContinuousClock.Instant, isForced: Bool) -> Bool {
        isForced || state.withLock { $0.durations.isEmpty && $0.tokens == 0 }
    }

    /// Counts a call. Returns the time before a second request; nil while too little is known.
    func begin() -> Duration? {
        let share = policy.share > 0 ? min(policy.share, 1) : 0
        return state.withLock { state in
            state.tokens = min(state.tokens + share, Self.burst)
            return state.threshold
        }
    }

    /// Takes one second request, if the budget has one.
    func spend() -> Bool {
        state.withLock { state in
            // The sum of twenty twentieths is not exactly 1.
            guard state.tokens >= 1 - 1e-9 else { return false }
            state.tokens -= 1
            return true
        }
    }

    /// A second request that was not sent.
    func refund() { state.withLock { $0.tokens = min($0.tokens + 1, Self.burst) } }

    /// Adds the duration of the first request of a call, or its duration when it lost.
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
            // Sorting costs as much as many requests do, so it is done rarely, once much is known.
            let count = state.durations.count
            state.untilSorted = count < Self.capacity ? count / 4 : count
            let part = policy.percentile > 0 ? min(policy.percentile, 1) : 0
            let index = Int((Double(state.durations.count) * part).rounded(.up)) - 1
            let threshold = state.durations.sorted()[max(0, min(index, state.durations.count - 1))]
            state.threshold = max(.nanoseconds(threshold), policy.minimumDelay)
        }
    }
}

/// The conditions for a second request beside the first.
public struct HedgePolicy: Sendable, Hashable {
    /// The maximum share of second requests for each call; 0.05 by default.
    public var share: Double
    /// The part of the earlier requests that were faster than the first one; 0.95 by default.
    public var percentile: Double
    /// The minimum number of earlier requests to the host for a percentile to count; 20 by default. Until then nothing
    /// is hedged.
    public var minimumSamples: Int
    /// The minimum time before a second request; a millisecond by default.
    public var minimumDelay: Duration = .milliseconds(1)
    /// Whether the request may be sent twice, whatever its method; nil, the default, decides by the method.
    public var isRepeatable: Bool?

    /// Makes a policy; the defaults are those of the properties. A share below 0 counts as 0, one above 1 as 1.
    public init(share: Double = 0.05, percentile: Double = 0.95, minimumSamples: Int = 20) {
        self.share = share
        self.percentile = percentile
        self.minimumSamples = minimumSamples
    }
}

/// One of the requests of a hedged call. What filters further on add to the call, checks and staged work, is the
/// request's own until it is known which of them counts.
struct HedgedRequest: Sendable {
    let task: SentTask
    private let exchange: Exchange
    private let shared: SharedExchange

    init(_ exchange: Exchange, _ next: Next) {
        let shared = SharedExchange(for: HedgedCall(exchange))
        task = SentTask { try await shared.send(exchange, next: next) }
        (self.exchange, self.shared) = (exchange, shared)
    }

    /// Adds to the call what filters have added, once the request has ended: it counts.
    func count() async { await shared.distribute(to: [exchange]) }

    /// Discards what filters have added and still add: the other request counts. Does not wait for one that runs.
    func discard() async {
        if task.isFinished { await end() } else { Task { await end() } }
    }

    private func end() async {
        _ = await task.result
        await shared.distribute(to: [])
    }
}

/// The call that sends a request twice.
private final class HedgedCall: ExchangeSharing {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    var deadline: ContinuousClock.Instant? { exchange.deadline }
    func report(_ event: TransportEvent) { exchange.report(event) }
}
