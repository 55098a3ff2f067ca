public import Errand
import ErrandEssentials
import ErrandTesting

/// Something that every transport does, tested with random exchanges against a scripted server and compared with a
/// model of HTTP/1.1.
///
/// ``TransportConformance/cases(for:laws:knownLimitations:within:)`` includes every law, so you don't need to call this
/// type. If a law fails, the failure contains a test with the simplest exchange that breaks it, which you can paste:
///
/// ```swift
/// try await TransportLaw.response.check({ MyTransport() }, WireExchange(reply: WireReply(headers: ["X-Law-A": ""])))
/// ```
public struct TransportLaw: Sendable, CustomStringConvertible {
    /// The law in a sentence, which is also the name of its case.
    public let name: String
    /// What to do if a transport breaks the law.
    public let advice: String
    /// The name in Swift.
    let identifier: String
    /// The exchanges of a round.
    let exchanges: @Sendable (inout LawRandom) -> [WireExchange]
    /// The rounds for each hundred of the options.
    let share: Int
    /// Whether the law compares exchanges with each other.
    let needsTwo: Bool
    let judge: @Sendable (WireBench, [WireExchange]) async throws -> LawViolation?

    init(
        _ identifier: String, _ name: String, advice: String, share: Int = 100, needsTwo: Bool = false,
        exchanges: @escaping @Sendable (inout LawRandom) -> [WireExchange],
        judge: @escaping @Sendable (WireBench, [WireExchange]) async throws -> LawViolation?
    ) {
        (self.identifier, self.name, self.advice, self.share) = (identifier, name, advice, share)
        (self.needsTwo, self.exchanges, self.judge) = (needsTwo, exchanges, judge)
    }

    /// All laws, in the order in which they run.
    public static let all = [
        request, response, promptness, faults, count, events, cancellation, release, separation, concurrency,
    ]

    /// The name.
    public var description: String { name }

    /// Plays exchanges, one after the other, and throws ``ConformanceFailure`` if the transport breaks the law.
    ///
    /// - Parameters:
    ///   - make: Creates a new transport, without connections or shared state.
    ///   - exchanges: The exchanges. A law that compares exchanges with each other needs two.
    public func check(
        _ make: @escaping @Sendable () throws -> any Transport, _ exchanges: WireExchange...
    ) async throws {
        guard let violation = try await confirmed(WireBench(make: make), exchanges) else { return }
        throw ConformanceFailure(expected: violation.expected, came: violation.came).named(name)
    }
}

/// Plays exchanges with new transports.
struct WireBench: Sendable {
    let make: @Sendable () throws -> any Transport
    var limitations: [KnownLimitation] = []
    /// How long an exchange may take.
    var patience = Duration.seconds(2)

    func run() throws -> WireRun { try WireRun(make(), patience: patience) }
}

extension TransportLaw {
    /// The patience of each repetition, so a busy machine doesn't count.
    private static let patience: [Duration] = [.seconds(2), .seconds(60)]

    /// Returns the violation if it occurs again with more patience.
    func confirmed(
        _ bench: WireBench, _ exchanges: [WireExchange], patience: [Duration] = TransportLaw.patience
    ) async throws -> LawViolation? {
        var violation: LawViolation?
        for patience in patience {
            var bench = bench
            bench.patience = patience
            violation = try await judge(bench, exchanges)
            if violation == nil { return nil }
        }
        return violation
    }

    /// Tests the law with random exchanges.
    func search(_ bench: WireBench, _ options: LawOptions) async throws {
        var random = LawRandom(seed: options.seed)
        let end = ContinuousClock.now.advanced(by: options.budget / Self.all.count)
        for _ in 0..<max(1, options.rounds * share / 100) where ContinuousClock.now < end {
            try Task.checkCancellation()
            let exchanges = exchanges(&random)
            if exchanges.contains(where: { $0.isExcused(by: bench.limitations) }) { continue }
            guard let violation = try await confirmed(bench, exchanges) else { continue }
            throw try await failure(bench, exchanges, violation, options)
        }
    }

    private func failure(
        _ bench: WireBench, _ exchanges: [WireExchange], _ violation: LawViolation, _ options: LawOptions
    ) async throws -> ConformanceFailure {
        let (smallest, violation) = try await shrunk(bench, exchanges, violation)
        let type = String(describing: type(of: try bench.make()))
        let list = smallest.map { "        \($0)" }.joined(separator: ",\n")
        let test = """
            @Test func keepsLaw() async throws {
                try await TransportLaw.\(identifier).check(
                    { \(type)() },
            \(list))
            }
            """
        return ConformanceFailure(
            expected: violation.expected, came: violation.came,
            details: "\(advice)\nTo repeat it (found with seed \(options.seed)):\n\n\(test)\n")
    }

    /// Simplifies the exchanges as long as they break the law.
    private func shrunk(
        _ bench: WireBench, _ exchanges: [WireExchange], _ violation: LawViolation
    ) async throws -> ([WireExchange], LawViolation) {
        var (best, violation, tries) = (exchanges, violation, 0)
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        var isSimpler = true
        while isSimpler {
            isSimpler = false
            for candidate in WireExchange.simpler(best, keepsCount: needsTwo)
            where tries < 400 && ContinuousClock.now < end
                && !candidate.contains(where: { $0.isExcused(by: bench.limitations) })
            {
                tries += 1
                guard let found = try await confirmed(bench, candidate, patience: [.milliseconds(500), .seconds(1)])
                else { continue }
                // Another fault on the way would hide this one.
                if found.kind != violation.kind { continue }
                (best, violation, isSimpler) = (candidate, found, true)
                break
            }
        }
        return (best, violation)
    }
}
