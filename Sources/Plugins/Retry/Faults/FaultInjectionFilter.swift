public import Errand
import Synchronization

/// Injects failures and delays into a share of the requests, to test how your app behaves.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: url, transport: .stub(.text("ok")),
///     filters: [.standardResilience, .faultInjection(seed: 7, failing: 0.1, with: [.status(503), .stall])])
/// ```
///
/// The seed determines which fault the first request gets, which the second, and so on, so you can repeat a run. Put
/// the filter last in the array, so retries, host limits and breakers see the faults. The filter runs right before the
/// transport, and its delays use the agent's `TimeSource`.
public struct FaultInjectionFilter: Filter {
    private let seed: UInt64
    private let failingShare: Double
    private let faults: [Fault]
    private let slowShare: Double
    private let delay: Duration
    private let applies: @Sendable (HTTPRequest) -> Bool
    private let counter: Counter

    private final class Counter: Sendable {
        let value = Atomic<UInt64>(0)
    }

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - seed: Determines the fault of each request. The same seed gives the same faults.
    ///   - failing: The share of requests that fail, from 0 to 1. Defaults to 0.
    ///   - faults: The possible faults. Each failing request gets one of them. Defaults to status 503.
    ///   - slow: The share of requests that are delayed, from 0 to 1. A delayed request may also fail. Defaults to 0.
    ///   - delay: The delay of a slow request. Defaults to zero.
    ///   - applies: Returns whether a request can get a fault and counts as the next request of the seed's sequence.
    ///     Defaults to all requests.
    public init(
        seed: UInt64, failing: Double = 0, with faults: [Fault] = [.status(503)], slow: Double = 0,
        by delay: Duration = .zero, where applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        (self.seed, failingShare, self.faults, slowShare) = (seed, failing, faults, slow)
        (self.delay, self.applies, counter) = (delay, applies, Counter())
    }

    /// Runs in the stage ``FilterStages/wire``.
    public var stages: FilterStages { .wire }

    /// The filter's line in the agent's `explain`.
    public var explanation: String { "injects faults, seed \(seed)" }

    /// Delays the request or makes it fail, as the seed determines.
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

extension Filter where Self == FaultInjectionFilter {
    /// Creates a filter that injects faults: `filters: [.standardResilience, .faultInjection(seed: 7, failing: 0.1)]`.
    ///
    /// For the arguments, see ``FaultInjectionFilter/init(seed:failing:with:slow:by:where:)``.
    public static func faultInjection(
        seed: UInt64, failing: Double = 0, with faults: [FaultInjectionFilter.Fault] = [.status(503)], slow: Double = 0,
        by delay: Duration = .zero, where applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) -> FaultInjectionFilter {
        FaultInjectionFilter(seed: seed, failing: failing, with: faults, slow: slow, by: delay, where: applies)
    }
}

extension FaultInjectionFilter {
    /// A fault that ``FaultInjectionFilter`` can inject into a request.
    public struct Fault: Sendable, CustomStringConvertible {
        /// The fault in words, such as "status 503".
        public let description: String
        private let body: @Sendable (Exchange) async throws -> HTTPResponse

        /// Returns a fault that responds with a status and no body.
        public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Fault {
            Fault(description: "status \(status)") { exchange in
                HTTPResponse(
                    to: exchange.http, status: status, headers: headers, source: ResponseSource("fault injection"))
            }
        }

        /// Throws an error, such as `.error(.connectionLost)`.
        public static func error(_ code: ErrandError.Code) -> Fault {
            Fault(description: "\(code)") { _ in throw ErrandError(code, "injected") }
        }

        /// Waits for the request's timeout, then throws `timedOut`.
        public static let stall = Fault(description: "stall") { exchange in
            try await exchange.time.sleep(until: exchange.time.instant(after: exchange.timeout))
            throw ErrandError(.timedOut, "injected: no response within \(duration: exchange.timeout)")
        }

        func happen(to exchange: Exchange) async throws -> HTTPResponse { try await body(exchange) }
    }
}

/// The SplitMix64 random number generator.
private struct Dice {
    var state: UInt64

    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((z ^ (z >> 31)) >> 11) / 9_007_199_254_740_992
    }
}
