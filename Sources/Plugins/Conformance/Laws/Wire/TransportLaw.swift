public import Errand
import ErrandEssentials
import ErrandTesting

/// A rule for all transports. It's tested with random exchanges with a scripted server, and compared with a model of
/// HTTP/1.1.
///
/// ``TransportConformance/cases(for:effects:samples:laws:knownLimitations:within:)`` includes all laws, so you don't have to
/// use this type. A law's failure contains a test with the simplest exchange that breaks it. You can paste this test:
///
/// ```swift
/// try await TransportLaw.response.check({ MyTransport() }, WireExchange(reply: WireReply(headers: ["X-Law-A": ""])))
/// ```
public struct TransportLaw: Sendable, CustomStringConvertible {
    /// The law as a sentence, and the name of its case.
    public let name: String
    /// Advice if a transport breaks the law.
    public let advice: String
    let identifier: String
    let exchanges: @Sendable (inout LawRandom) -> [WireExchange]
    let share: Int
    let needsTwo: Bool
    /// Whether the law allows transports that change responses on purpose, so samples can be mixed in.
    let allowsChanges: Bool
    let judge: @Sendable (WireBench, [WireExchange]) async throws -> LawViolation?

    init(
        _ identifier: String, _ name: String, advice: String, share: Int = 100, needsTwo: Bool = false,
        exchanges: @escaping @Sendable (inout LawRandom) -> [WireExchange],
        judge: @escaping @Sendable (WireBench, [WireExchange]) async throws -> LawViolation?
    ) {
        (self.identifier, self.name, self.advice, self.share) = (identifier, name, advice, share)
        (self.needsTwo, self.exchanges, self.judge) = (needsTwo, exchanges, judge)
        allowsChanges = ["framing", "cancellation", "release"].contains(identifier)
    }

    /// The laws for every transport, in the order in which they run. ``continuation`` is another law.
    public static let all = [
        request, response, framing, promptness, faults, count, events, cancellation, release, separation, concurrency,
        setback,
    ]

    /// The law's name.
    public var description: String { name }

    /// Checks a transport with consecutive exchanges. Throws ``ConformanceFailure`` if the transport breaks the law.
    ///
    /// - Parameters:
    ///   - make: Creates a new transport without connections or shared state.
    ///   - relay: Creates a relay to the server at a port, as in
    ///     ``TransportConformance/laws(for:through:effects:laws:knownLimitations:within:)``. By default, the transport
    ///     connects to the server.
    ///   - effects: What the transport does on purpose.
    ///   - exchanges: The exchanges. A law that compares exchanges needs two.
    public func check(
        _ make: @escaping @Sendable () throws -> any Transport,
        through relay: (@Sendable (_ port: Int) throws -> any WireRelay)? = nil, effects: [TransportEffect] = [],
        _ exchanges: WireExchange...
    ) async throws {
        let bench = WireBench(make: make, effects: effects, relay: relay)
        guard let violation = try await confirmed(bench, exchanges) else { return }
        throw ConformanceFailure(expected: violation.expected, came: violation.came).named(name)
    }
}

struct WireBench: Sendable {
    typealias Relay = @Sendable (_ port: Int) throws -> any WireRelay

    let make: @Sendable () throws -> any Transport
    var effects: [TransportEffect] = []
    /// Exchanges that the transport reacts to.
    var samples: [WireExchange] = []
    var limitations: [KnownLimitation] = []
    var patience = Duration.seconds(2)
    var relay: Relay?

    func run() throws -> WireRun { try WireRun(make(), patience: patience, relay: relay) }
}

extension TransportLaw: RandomLaw {
    static let patience: [Duration] = [.seconds(2), .seconds(20)]
    static let shrinking = LawShrinking(
        patience: [.milliseconds(500), .seconds(1)], time: .seconds(10), keepsKind: true)

    var check: String { "TransportLaw.\(identifier).check" }

    func violation(_ bench: WireBench, _ exchanges: [WireExchange], patience: Duration) async throws -> LawViolation? {
        var bench = bench
        bench.patience = patience
        return try await judge(bench, exchanges)
    }

    func simpler(_ exchanges: [WireExchange]) -> [[WireExchange]] {
        WireExchange.simpler(exchanges, keepsCount: needsTwo)
    }

    func mixed(_ exchanges: [WireExchange], _ bench: WireBench, _ random: inout LawRandom) -> [WireExchange] {
        if !allowsChanges || bench.samples.isEmpty || random.isTrue(0.4) { return exchanges }
        let sample = random.pick(bench.samples)
        return exchanges.map { exchange in
            var copy = exchange
            copy.resemble(sample)
            return copy
        }
    }

    func isExcused(_ exchange: WireExchange, by bench: WireBench) -> Bool {
        exchange.isExcused(by: bench.limitations)
    }

    func arguments(_ bench: WireBench) throws -> [String] {
        var parts = [LawCode.creation(of: try bench.make())]
        if bench.relay != nil { parts.append("through: { port in try MyRelay(to: port) }") }
        if !bench.effects.isEmpty {
            parts.append("effects: [\(bench.effects.map { ".\($0)" }.joined(separator: ", "))]")
        }
        return parts
    }
}
