public import Errand

/// Whether and when an event stream connects again (HTML standard, section 9.2.3).
///
/// ```swift
/// EventOptions(reconnection: ReconnectionPolicy(backoff: Backoff(base: .seconds(1)), statuses: [502, 503, 504]))
/// ```
///
/// After a connection that ends or breaks, the request is sent again, with the id of the last event, after the time
/// that the server has sent as `retry`, or else as the ``backoff`` says. While no event arrives the wait doubles. A
/// failure that cannot pass ends the stream: another status than 200, another type than `text/event-stream`, a
/// certificate that is not trusted, a body that can be sent once. The status 204 ends it without an error.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// The waits while no event arrives: 3 seconds at first and 60 at most, a quarter of it at random, by default. A
    /// `retry` of the server takes the place of the base, and counts up to a day. A wait is never shorter than the base
    /// or the `retry`: there the random part makes it longer.
    public var backoff: Backoff
    /// The minimum wait, even if `retry` or the backoff is shorter; 100 milliseconds by default.
    public var minimumDelay: Duration
    /// The number of connections in a row that may fail to open; one more throws its error. 20 by default.
    public var maximumFailures: Int
    /// Statuses after which the stream reconnects, unlike in the standard; none by default. Their `Retry-After` is
    /// respected, up to a day.
    public var statuses: StatusCodes
    let isEnabled: Bool

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

    /// Does not reconnect: the end of the response is the end of the stream, and a failure throws.
    public static let off = ReconnectionPolicy(false, .none, 0, [], .zero)
    /// Reconnects according to the standard.
    public static let standard = ReconnectionPolicy()

    static let longestDelay: Duration = .seconds(86_400)

    /// The wait before the next connection.
    ///
    /// - Parameters:
    ///   - retry: the time that the server has sent.
    ///   - silent: the number of connections in a row without an event.
    ///   - chance: a random number between 0 and 1.
    func wait(retry: Duration?, silent: Int, chance: Double) -> Duration {
        let floor = min(max(retry ?? backoff.base, minimumDelay, .zero), Self.longestDelay)
        var backoff = backoff
        // Where the first wait is none, the next ones are not.
        backoff.base = silent > 1 ? max(floor, .milliseconds(100)) : floor
        return backoff.delay(afterFailures: silent, atLeast: floor, random: chance)
    }

    /// Whether another connection may succeed after a failure.
    func permits(_ error: any Error) -> Bool {
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
