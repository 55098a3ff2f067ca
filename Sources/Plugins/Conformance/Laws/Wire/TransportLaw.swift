public import Errand
import ErrandEssentials
import ErrandTesting

/// A rule that every transport must follow, tested with random exchanges against a scripted server and compared with a
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

    /// All laws of transports, in the order in which they run.
    public static let all = [
        request, response, promptness, faults, count, events, cancellation, release, separation, concurrency,
    ]

    /// The name of the law.
    public var description: String { name }

    /// Sends exchanges with a transport, one after the other, and throws ``ConformanceFailure`` if the transport breaks
    /// the law.
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
    typealias Relay = @Sendable (_ port: Int) throws -> any WireRelay

    let make: @Sendable () throws -> any Transport
    var limitations: [KnownLimitation] = []
    /// How long an exchange may take.
    var patience = Duration.seconds(2)
    var relay: Relay?

    func run() throws -> WireRun { try WireRun(make(), patience: patience, relay: relay) }
}

extension TransportLaw: RandomLaw {
    static let patience: [Duration] = [.seconds(2), .seconds(60)]
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

    func isExcused(_ exchange: WireExchange, by bench: WireBench) -> Bool {
        exchange.isExcused(by: bench.limitations)
    }

    func arguments(_ bench: WireBench) throws -> String { "{ \(type(of: try bench.make()))() }" }
}
