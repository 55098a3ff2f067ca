public import Errand
import Synchronization

/// Lets a share of the requests fail or be slow, for tests of an app's behaviour.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: url, transport: .stub(.text("ok")),
///     filters: [.standardResilience, .faultInjection(seed: 7, failing: 0.1, with: [.status(503), .stall])])
/// ```
///
/// Only the seed decides the faults of the first, second, third request that arrives here, so that a run can be
/// repeated. The filter stands before the transport; in the array it comes last, so that retries, gates and breakers
/// see the faults. Waits pass on the agent's `TimeSource`.
public struct FaultInjection: Filter {
    /// The seed that decides the faults.
    public let seed: UInt64
    /// The share of the requests that fail, from 0 to 1.
    public let failingShare: Double
    /// The possible faults; one of them each time.
    public let faults: [Fault]
    /// The share of the requests that are slow, from 0 to 1, failures included.
    public let slowShare: Double
    /// The time by which a slow request is delayed.
    public let delay: Duration
    private let applies: @Sendable (HTTPRequest) -> Bool
    private let counter: Counter

    private final class Counter: Sendable {
        let value = Atomic<UInt64>(0)
    }

    /// Makes a filter.
    ///
    /// - Parameters:
    ///   - seed: decides the fault of each request.
    ///   - failing: the share of the requests that fail; none by default.
    ///   - faults: the possible faults; status 503 by default.
    ///   - slow: the share of the requests that are slow; none by default.
    ///   - delay: the time by which a slow request is delayed.
    ///   - applies: the requests that are counted; all by default.
    public init(
        seed: UInt64, failing: Double = 0, with faults: [Fault] = [.status(503)], slow: Double = 0,
        by delay: Duration = .zero, where applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        (self.seed, failingShare, self.faults, slowShare) = (seed, failing, faults, slow)
        (self.delay, self.applies, counter) = (delay, applies, Counter())
    }

    /// ``FilterStages/wire``
    public var stages: FilterStages { .wire }

    /// The seed.
    public var explanation: String { "injects faults, seed \(seed)" }

    /// Fails, waits, or passes the request on.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard applies(exchange.http) else { return try await next(exchange) }
        var dice = Dice(state: seed &+ counter.value.add(1, ordering: .relaxed).newValue &* 0xD134_2543_DE82_EF95)
        let (isSlow, fails, kind) = (dice.next() < slowShare, dice.next() < failingShare, dice.next())
        if isSlow {
            try await exchange.time.sleep(until: exchange.time.instant(after: delay))
        }
        guard fails, !faults.isEmpty else { return try await next(exchange) }
        let fault = faults[min(Int(kind * Double(faults.count)), faults.count - 1)]
        exchange.note("fault", fault.description)
        return try await fault.happen(to: exchange)
    }
}

extension Filter where Self == FaultInjection {
    /// `filters: [.standardResilience, .faultInjection(seed: 7, failing: 0.1)]`; the arguments are those of
    /// ``FaultInjection/init(seed:failing:with:slow:by:where:)``.
    public static func faultInjection(
        seed: UInt64, failing: Double = 0, with faults: [FaultInjection.Fault] = [.status(503)], slow: Double = 0,
        by delay: Duration = .zero, where applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) -> FaultInjection {
        FaultInjection(seed: seed, failing: failing, with: faults, slow: slow, by: delay, where: applies)
    }
}

extension FaultInjection {
    /// A way in which a request fails.
    public struct Fault: Sendable, CustomStringConvertible {
        /// The fault, in words.
        public let description: String
        private let body: @Sendable (Exchange) async throws -> HTTPResponse

        /// A response of this status without a body.
        public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Fault {
            Fault(description: "status \(status)") { exchange in
                HTTPResponse(
                    to: exchange.http, status: status, headers: headers, source: ResponseSource("fault injection"))
            }
        }

        /// No response, but an error, such as `.error(.connectionLost)`.
        public static func error(_ code: ErrandError.Code) -> Fault {
            Fault(description: "\(code)") { _ in throw ErrandError(code, "injected") }
        }

        /// No response for as long as the request's timeout lasts; then `timedOut`.
        public static let stall = Fault(description: "stall") { exchange in
            try await exchange.time.sleep(until: exchange.time.instant(after: exchange.timeout))
            throw ErrandError(.timedOut, "injected: no response within \(duration: exchange.timeout)")
        }

        func happen(to exchange: Exchange) async throws -> HTTPResponse { try await body(exchange) }
    }
}

/// SplitMix64.
private struct Dice {
    var state: UInt64

    /// From 0 to 1, without 1.
    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((z ^ (z >> 31)) >> 11) / 9_007_199_254_740_992
    }
}
