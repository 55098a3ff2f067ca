public import Errand
import ErrandEssentials
import ErrandTesting

/// A rule about what a filter must not change, tested with random exchanges that run with the filter and without it.
///
/// ``FilterConformance/cases(for:effects:secrets:laws:knownLimitations:within:gracePeriod:)`` includes every law, so
/// you don't need to call this type. If a law fails, the failure contains a test with the simplest exchange that breaks
/// it, which you can paste:
///
/// ```swift
/// try await FilterLaw.request.check({ MyFilter() }, LawExchange(isTagged: true))
/// ```
public struct FilterLaw: Sendable, CustomStringConvertible {
    /// The law in a sentence, which is also the name of its case.
    public let name: String
    /// What to do if a filter breaks the law.
    public let advice: String
    /// The name in Swift.
    let identifier: String
    /// The exchanges of a round.
    let exchanges: @Sendable (inout LawRandom) -> [LawExchange]
    /// The rounds for each hundred of the options.
    let share: Int
    /// Whether the law compares two calls with each other.
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

    /// All laws of filters, in the order in which they run.
    public static let all = [
        request, distinction, coding, count, repetition, response, bystanders, concurrency, time, release, separation,
        history, coherence, recovery,
    ]

    /// The name of the law.
    public var description: String { name }

    /// Sends exchanges with a filter and without it, and throws ``ConformanceFailure`` if the filter breaks the law.
    ///
    /// - Parameters:
    ///   - make: Creates a filter that doesn't share state with another one.
    ///   - effects: The changes that the filter makes on purpose. Derived from its traits by default.
    ///   - exchanges: The calls, one after the other. A law that compares calls with each other needs two.
    public func check(
        _ make: @escaping @Sendable () throws -> any Filter, effects: [FilterEffect] = [], _ exchanges: LawExchange...
    ) async throws {
        let filters = FilterBench(make: make, secrets: [], gracePeriod: .seconds(5))
        let bench = LawBench(filters: filters, effects: effects)
        guard let violation = try await confirmed(bench, exchanges) else { return }
        throw ConformanceFailure(expected: violation.expected, came: violation.came).named(name)
    }
}

/// How thoroughly a conformance suite tests its laws.
public struct LawOptions: Sendable {
    /// The number of random exchanges for most laws. Defaults to 100. 0 leaves the laws out.
    public var rounds: Int
    /// The longest time for all laws of one plugin. Defaults to one minute.
    public var budget: Duration
    /// The number that determines the random exchanges. Defaults to 1, so a failure repeats.
    public var seed: UInt64

    /// Creates options. Every argument has the default of its property.
    public init(rounds: Int = 100, budget: Duration = .seconds(60), seed: UInt64 = 1) {
        (self.rounds, self.budget, self.seed) = (rounds, budget, seed)
    }

    /// Options that leave the laws out.
    public static let off = LawOptions(rounds: 0)
}

/// A violation of a law.
struct LawViolation: Sendable {
    let expected: String
    let came: String

    /// The words before the first value.
    var kind: Substring { expected.prefix { !$0.isNumber && $0 != ":" } }
}

/// Plays exchanges with new filters.
struct LawBench: Sendable {
    let filters: FilterBench
    let effects: [FilterEffect]
    /// How long nothing must happen before the clock moves on.
    var patience = Duration.milliseconds(5)

    func control() -> LawRun { LawRun(nil, patience: patience, bench: filters) }

    /// - Parameter date: The date of the agent's clock at the beginning.
    /// - Parameter outside: Filters of the suite before the filter.
    func subject(
        date: Date? = nil, outside: [any Filter] = []
    ) throws -> (run: LawRun, permissions: Permissions) {
        let filter = try filters.make()
        let traits = filter.lawTraits(for: LawRequest(LawCall(LawExchange())))
        let run = LawRun(filter, outside: outside, patience: patience, bench: filters, date: date)
        return (run, Permissions(effects, traits: traits))
    }

    /// A call without the filter, and the same with it.
    struct Pair {
        let exchange: LawExchange
        let expected: LawTrace
        let came: LawTrace
        let permissions: Permissions
    }

    /// Plays calls one after the other, without the filter and with one.
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

    func arguments(_ bench: LawBench) throws -> String {
        "{ \(type(of: try bench.filters.make()))() }" + (bench.effects.isEmpty ? "" : ", effects: effects")
    }
}
