public import ErrandHTTP

/// Decides whether and when to reconnect after a long-lived connection ends, such as an event stream's.
///
/// ```swift
/// ReconnectionPolicy(backoff: Backoff(base: .seconds(1)), statuses: [502, 503, 504])
/// ```
///
/// The wait is the time that the server asked for, or else a ``backoff`` delay. Permanent failures, such as an
/// unexpected status or an untrusted certificate, aren't retried. A request whose body can be sent only once isn't
/// retried either.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// The delays between connections that deliver no data. By default, they grow from 3 to 60 seconds, with 25%
    /// jitter.
    ///
    /// A delay that the server asks for, up to a day, replaces ``Backoff/base``. Delays are never shorter than the base
    /// delay, but jitter can make them longer.
    public var backoff: Backoff
    /// The shortest delay, even if the server or the backoff asks for less. Defaults to 100 milliseconds.
    public var minimumDelay: Duration
    /// The number of consecutive connections that may fail to open. If the next connection also fails, its error is
    /// thrown. Defaults to 20.
    public var maximumFailures: Int
    /// The response statuses after which to reconnect. Defaults to `[]`. If such a response has a `Retry-After`, the
    /// policy waits that long, up to a day.
    public var statuses: StatusCodes
    /// Whether the policy ever reconnects.
    public let isEnabled: Bool

    /// Creates a policy that reconnects.
    public init(
        backoff: Backoff = Backoff(base: .seconds(3), maximumDelay: .seconds(60), jitter: 0.25),
        maximumFailures: Int = 20, statuses: StatusCodes = [], minimumDelay: Duration = .milliseconds(100)
    ) {
        self.init(
            isEnabled: true, backoff: backoff, maximumFailures: maximumFailures, statuses: statuses,
            minimumDelay: minimumDelay)
    }

    private init(
        isEnabled: Bool, backoff: Backoff, maximumFailures: Int, statuses: StatusCodes, minimumDelay: Duration
    ) {
        (self.isEnabled, self.backoff, self.maximumFailures) = (isEnabled, backoff, maximumFailures)
        (self.statuses, self.minimumDelay) = (statuses, minimumDelay)
    }

    /// A policy that never reconnects. The stream ends with its first connection, and throws that connection's error.
    public static let off = ReconnectionPolicy(
        isEnabled: false, backoff: .none, maximumFailures: 0, statuses: [], minimumDelay: .zero)
    /// The default policy.
    public static let standard = ReconnectionPolicy()

    /// The longest wait that a server can ask for: a day.
    public static let maximumRetryAfter: Duration = .seconds(86_400)

    /// Returns the wait before the next connection.
    ///
    /// - Parameters:
    ///   - retry: The wait that the server asked for, if any.
    ///   - silent: The number of consecutive connections that delivered no data.
    ///   - chance: A random number between 0 and 1.
    public func wait(retry: Duration?, silent: Int, chance: Double = .random(in: 0...1)) -> Duration {
        let floor = min(max(retry ?? backoff.base, minimumDelay, .zero), Self.maximumRetryAfter)
        var backoff = backoff
        // If the first wait is zero, later waits grow from 100 milliseconds.
        backoff.base = silent > 1 ? max(floor, .milliseconds(100)) : floor
        return backoff.delay(afterFailures: silent, atLeast: floor, random: chance)
    }

    /// Returns whether to reconnect after an error.
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
