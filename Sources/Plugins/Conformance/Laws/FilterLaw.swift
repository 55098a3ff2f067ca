public import Errand
import ErrandEssentials
import ErrandTesting

/// A rule about what a filter must not change. It's tested by running random exchanges with and without the filter.
///
/// ``FilterConformance/cases(for:effects:samples:secrets:another:laws:knownLimitations:within:gracePeriod:)`` includes all laws, so you
/// don't have to use this type. A law's failure contains a test with the simplest exchange that breaks it. You can
/// paste this test:
///
/// ```swift
/// try await FilterLaw.request.check({ MyFilter() }, LawExchange(isTagged: true))
/// ```
public struct FilterLaw: Sendable, CustomStringConvertible {
    /// The law as a sentence, and the name of its case.
    public let name: String
    /// Advice if a filter breaks the law.
    public let advice: String
    let identifier: String
    let exchanges: @Sendable (inout LawRandom) -> [LawExchange]
    let share: Int
    let needsTwo: Bool
    let judge: @Sendable (LawBench, [LawExchange]) async throws -> LawViolation?

    init(
        _ identifier: String, _ name: String, advice: String, share: Int = 100, needsTwo: Bool = false,
        exchanges: @escaping @Sendable (inout LawRandom) -> [LawExchange] = { LawExchange.story(&$0) },
        judge: @escaping @Sendable (LawBench, [LawExchange]) async throws -> LawViolation?
    ) {
        (self.identifier, self.name, self.advice, self.share) = (identifier, name, advice, share)
        (self.needsTwo, self.exchanges, self.judge) = (needsTwo, exchanges, judge)
    }

    /// All laws, in the order in which they run.
    public static let all = [
        request, distinction, coding, count, repetition, response, arrival, bystanders, concurrency, time, release,
        separation, history, abandonment, acceptance, coherence, recovery, lookalikes, users, attempts, resending,
        redirects, spelling, renewal, ending, live, setback, endurance, errors, credentials, signatures, pauses,
        waiting, limits,
        versions,
    ]

    /// The law's name.
    public var description: String { name }

    /// Checks a filter with exchanges. Throws ``ConformanceFailure`` if the filter breaks the law.
    ///
    /// - Parameters:
    ///   - make: Creates a filter without shared state.
    ///   - effects: The changes that the filter makes on purpose. By default, they're derived from its traits.
    ///   - samples: Exchanges to which the filter reacts. They declare the origins that the filter knows. Defaults to
    ///     an empty list.
    ///   - another: Creates the same filter for another user. By default, the filter has no user.
    ///   - exchanges: The consecutive calls. A law that compares calls needs two.
    public func check(
        _ make: @escaping @Sendable () throws -> any Filter, effects: [FilterEffect] = [],
        samples: [LawExchange] = [], another: (@Sendable () throws -> any Filter)? = nil, _ exchanges: LawExchange...
    ) async throws {
        try await check(make, effects: effects, samples: samples, another: another, all: exchanges)
    }

    package func check(
        _ make: @escaping @Sendable () throws -> any Filter, effects: [FilterEffect] = [],
        samples: [LawExchange] = [], another: (@Sendable () throws -> any Filter)? = nil, all exchanges: [LawExchange]
    ) async throws {
        let filters = FilterBench(make: make, secrets: [], gracePeriod: .seconds(5))
        let bench = LawBench(filters: filters, effects: effects, another: another, samples: samples)
        guard let violation = try await confirmed(bench, exchanges) else { return }
        throw ConformanceFailure(expected: violation.expected, came: violation.came).named(name)
    }
}

/// Determines how thoroughly a suite tests laws.
public struct LawOptions: Sendable {
    /// The number of random exchanges for most laws. Defaults to 100. 0 omits the laws.
    public var rounds: Int
    /// The time for all laws of a plugin. Defaults to one minute. Each law plays at least a fifth of its rounds, even
    /// if a busy machine needs longer.
    public var budget: Duration
    /// The seed of the random exchanges. Defaults to 1, so failures repeat.
    public var seed: UInt64

    /// Creates options.
    public init(rounds: Int = 100, budget: Duration = .seconds(60), seed: UInt64 = 1) {
        (self.rounds, self.budget, self.seed) = (rounds, budget, seed)
    }

    /// Options that omit the laws.
    public static let off = LawOptions(rounds: 0)
}

extension LawOptions {
    /// Returns the rounds of a law.
    ///
    /// - Parameters:
    ///   - share: The percentage of the options' rounds to play.
    ///   - count: The number of laws that divide the budget.
    func rounds(share: Int, laws count: Int) -> LawRounds {
        LawRounds(
            count: max(1, rounds * share / 100), end: ContinuousClock.now.advanced(by: budget / count))
    }
}

/// Rounds that end at an instant, but not before a fifth of them is played. On a busy machine, a law would otherwise
/// pass after too few rounds.
struct LawRounds: Sequence, IteratorProtocol {
    let count: Int
    let end: ContinuousClock.Instant
    private var played = 0

    init(count: Int, end: ContinuousClock.Instant) { (self.count, self.end) = (count, end) }

    mutating func next() -> Int? {
        guard played < count, played < count / 5 || ContinuousClock.now < end else { return nil }
        defer { played += 1 }
        return played
    }
}

struct LawViolation: Sendable {
    let expected: String
    let came: String

    /// The words of `expected` before its first value.
    var kind: Substring { expected.prefix { !$0.isNumber && $0 != ":" } }
}

struct LawBench: Sendable {
    let filters: FilterBench
    let effects: [FilterEffect]
    /// Creates the filter for another user.
    var another: (@Sendable () throws -> any Filter)?
    /// Exchanges that the filter reacts to.
    var samples: [LawExchange] = []
    /// How long the run must be idle before the clock advances.
    var patience = Duration.milliseconds(5)

    func control() -> LawRun { LawRun(nil, patience: patience, bench: filters) }

    /// `outside` filters run before the tested filter, and `inside` filters after it. `make` creates the tested filter;
    /// by default, it's the author's first closure.
    func subject(
        date: Date? = nil, outside: [any Filter] = [], inside: [any Filter] = [],
        _ make: (@Sendable () throws -> any Filter)? = nil
    ) throws -> (run: LawRun, permissions: Permissions) {
        let filter = try (make ?? filters.make)()
        let traits = filter.lawTraits(for: LawRequest(LawCall(LawExchange())))
        let run = LawRun(filter, outside: outside, inside: inside, patience: patience, bench: filters, date: date)
        return (run, Permissions(effects, traits: traits))
    }

    struct Pair {
        let exchange: LawExchange
        let expected: LawTrace
        let came: LawTrace
        let permissions: Permissions
    }

    func pairs(_ exchanges: [LawExchange]) async throws -> [Pair] {
        let (run, permissions) = try subject()
        let control = control()
        var pairs: [Pair] = []
        for exchange in exchanges {
            let expected = await control.play(exchange)
            pairs.append(
                Pair(
                    exchange: exchange, expected: expected, came: await run.play(exchange), permissions: permissions))
        }
        return pairs
    }
}

extension FilterLaw: RandomLaw {
    static let patience: [Duration] = [.milliseconds(5), .milliseconds(5), .milliseconds(25), .milliseconds(100)]
    static let shrinking = LawShrinking(patience: [.milliseconds(5), .milliseconds(10)], time: .seconds(5))

    var check: String { "FilterLaw.\(identifier).check" }

    func violation(_ bench: LawBench, _ exchanges: [LawExchange], patience: Duration) async throws -> LawViolation? {
        var bench = bench
        bench.patience = patience
        return try await judge(bench, exchanges)
    }

    func simpler(_ exchanges: [LawExchange]) -> [[LawExchange]] {
        LawExchange.simpler(exchanges, keepsCount: needsTwo)
    }

    func mixed(_ exchanges: [LawExchange], _ bench: LawBench, _ random: inout LawRandom) -> [LawExchange] {
        if bench.samples.isEmpty || random.isTrue(0.4) { return exchanges }
        let sample = random.pick(bench.samples)
        return exchanges.map { exchange in
            var copy = exchange
            copy.resemble(sample, onlyFields: needsTwo)
            return copy
        }
    }

    func arguments(_ bench: LawBench) throws -> [String] {
        var parts = [LawCode.creation(of: try bench.filters.make())]
        if !bench.effects.isEmpty { parts.append("effects: [\(LawCode.list(bench.effects))]") }
        if !bench.samples.isEmpty { parts.append("samples: [\(LawCode.list(bench.samples))]") }
        if let another = bench.another { parts.append("another: \(LawCode.creation(of: try another()))") }
        return parts
    }
}
