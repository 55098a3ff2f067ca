public import Errand

/// Whether and when an event stream connects again (HTML standard, section 9.2.3).
///
/// ```swift
/// EventOptions(reconnection: Reconnection(delay: .seconds(1), statuses: [502, 503, 504]))
/// ```
///
/// After a connection that ends or breaks the request is sent again, with the id of the last event, once the time that the
/// server asked for by `retry` has passed, or else `delay`. While no event comes the wait doubles each time. What cannot
/// become better ends the stream: another status than 200, another type than `text/event-stream`, a certificate that is
/// not trusted, a body that can be sent once. The status 204 ends it without an error.
public struct Reconnection: Sendable, Hashable {
    /// The time before connecting again, until the server sends a `retry`; 3 seconds by default. A `retry` counts up to a
    /// day.
    public var delay: Duration
    /// The shortest wait, whatever the server asks for and `delay` says; 100 milliseconds by default.
    public var minimumDelay: Duration
    /// The longest wait that comes of doubling; 60 seconds by default.
    public var maximumDelay: Duration
    /// How much longer a wait is by chance, so that clients do not come back all at once: up to a quarter by default
    /// (0.25), never shorter.
    public var jitter: Double
    /// How many connections in a row may fail to open; one more throws its error. 20 by default.
    public var maximumFailures: Int
    /// Statuses after which it connects again, against the standard; none by default. A `Retry-After` of theirs is
    /// respected, up to a day.
    public var statuses: StatusCodes
    let isEnabled: Bool

    /// Makes a rule; the defaults are those of the properties.
    public init(
        delay: Duration = .seconds(3), maximumDelay: Duration = .seconds(60), jitter: Double = 0.25,
        maximumFailures: Int = 20, statuses: StatusCodes = [], minimumDelay: Duration = .milliseconds(100)
    ) {
        self.init(true, delay, maximumDelay, jitter, maximumFailures, statuses, minimumDelay)
    }

    private init(
        _ isEnabled: Bool, _ delay: Duration, _ maximumDelay: Duration, _ jitter: Double, _ maximumFailures: Int,
        _ statuses: StatusCodes, _ minimumDelay: Duration
    ) {
        (self.isEnabled, self.delay, self.maximumDelay) = (isEnabled, delay, maximumDelay)
        (self.jitter, self.maximumFailures, self.statuses) = (jitter, maximumFailures, statuses)
        self.minimumDelay = minimumDelay
    }

    /// Does not connect again: the end of the response is the end of the stream, and a failure throws.
    public static let never = Reconnection(false, .zero, .zero, 0, 0, [], .zero)
    /// Connects again as the standard says.
    public static let standard = Reconnection()

    static let longestDelay: Duration = .seconds(86_400)

    /// The wait before the next connection.
    ///
    /// - Parameters:
    ///   - retry: what the server asked for.
    ///   - silent: how many connections in a row brought no event.
    ///   - chance: between 0 and 1.
    func wait(retry: Duration?, silent: Int, chance: Double) -> Duration {
        let base = min(max(retry ?? delay, minimumDelay, .zero), Self.longestDelay)
        var wait = base
        if silent > 1 {
            wait = max(base, .milliseconds(100)) * (1 << min(silent - 1, 20))
            wait = max(base, min(wait, maximumDelay))
        }
        return wait * (1 + min(max(jitter, 0), 10) * chance)
    }

    /// Whether a connection that failed so may succeed later.
    func permits(_ error: any Error) -> Bool {
        guard isEnabled, let error = error as? ErrandError else { return false }
        switch error.code {
        case .timedOut, .deadlineExceeded, .nameLookupFailed, .cannotConnect, .connectionLost, .truncated,
            .invalidResponse, .transportFailed:
            return true
        case .unacceptableStatus: return error.response.map { statuses.contains($0.status) } ?? false
        default: return false
        }
    }
}
