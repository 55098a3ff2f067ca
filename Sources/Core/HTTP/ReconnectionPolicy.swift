/// Whether and when a connection that lasts, such as that of an event stream, is made again after its end.
///
/// ```swift
/// ReconnectionPolicy(backoff: Backoff(base: .seconds(1)), statuses: [502, 503, 504])
/// ```
///
/// After a connection that ends or breaks, another one is made, after the time that the server has asked for, or else
/// as the ``backoff`` says. While nothing arrives the wait doubles. A failure that cannot pass is final: a status that
/// is not expected, a certificate that is not trusted, a body that can be sent once.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// The waits while nothing arrives: 3 seconds at first and 60 at most, a quarter of it at random, by default. A
    /// time that the server asks for takes the place of the base, and counts up to a day. A wait is never shorter than
    /// either: there the random part makes it longer.
    public var backoff: Backoff
    /// The minimum wait, even if the server or the backoff asks for less; 100 milliseconds by default.
    public var minimumDelay: Duration
    /// The number of connections in a row that may fail to open; one more throws its error. 20 by default.
    public var maximumFailures: Int
    /// Statuses after which another connection is made; none by default. Their `Retry-After` is
    /// respected, up to a day.
    public var statuses: StatusCodes
    /// Whether another connection is ever made.
    public let isEnabled: Bool

    /// Makes a policy; the defaults are those of the properties.
    public init(
        backoff: Backoff = Backoff(base: .seconds(3), maximumDelay: .seconds(60), jitter: 0.25),
        maximumFailures: Int = 20, statuses: StatusCodes = [], minimumDelay: Duration = .milliseconds(100)
    ) {
        self.init(true, backoff, maximumFailures, statuses, minimumDelay)
    }

    private init(
        _ isEnabled: Bool, _ backoff: Backoff, _ maximumFailures: Int, _ statuses: StatusCodes,
        _ minimumDelay: Duration
    ) {
        (self.isEnabled, self.backoff, self.maximumFailures) = (isEnabled, backoff, maximumFailures)
        (self.statuses, self.minimumDelay) = (statuses, minimumDelay)
    }

    /// Makes no other connection: the end of the first one is the end, and a failure throws.
    public static let off = ReconnectionPolicy(false, .none, 0, [], .zero)
    /// The defaults.
    public static let standard = ReconnectionPolicy()

    /// A day: a server cannot ask for a longer wait.
    public static let maximumRetryAfter: Duration = .seconds(86_400)

    /// The wait before the next connection.
    ///
    /// - Parameters:
    ///   - retry: the time that the server has asked for, if it has.
    ///   - silent: the number of connections in a row over which nothing came.
    ///   - chance: a random number between 0 and 1.
    public func wait(retry: Duration?, silent: Int, chance: Double = .random(in: 0...1)) -> Duration {
        let floor = min(max(retry ?? backoff.base, minimumDelay, .zero), Self.maximumRetryAfter)
        var backoff = backoff
        // Where the first wait is none, the next ones are not.
        backoff.base = silent > 1 ? max(floor, .milliseconds(100)) : floor
        return backoff.delay(afterFailures: silent, atLeast: floor, random: chance)
    }

    /// Whether another connection may succeed after a failure.
    public func permits(_ error: any Error) -> Bool {
        if !isEnabled { return false }
        guard let error = error as? ErrandError else { return (error as? any RequestFailure)?.isRetryable == true }
        switch error.code {
        case .timedOut, .deadlineExceeded, .nameLookupFailed, .cannotConnect, .connectionLost, .truncated,
            .invalidResponse, .transportFailed:
            return true
        case .unacceptableStatus: return error.response.map { statuses.contains($0.status) } ?? false
        default: return false
        }
    }
}
