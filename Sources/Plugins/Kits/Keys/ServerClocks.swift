public import ErrandEssentials
public import ErrandHTTP
import ErrandMessageSyntax
import Synchronization

/// How far the clocks of servers differ from the device's, for signatures that contain a date. Learned from refusals, by
/// origin, for at most 64 origins.
///
/// ```swift
/// let clocks = ServerClocks()
/// let signedAt = clocks.date(of: response.url, now: Date())
/// // … sign the request, send it, and if the server refuses the signature:
/// if clocks.learn(from: response, to: response.url, signedAt: signedAt, now: Date()) { /* sign and send it again */ }
/// ```
///
/// Use one object for each client. It doesn't change other dates, such as those of caches.
public final class ServerClocks: Sendable {
    /// Smaller differences aren't a reason for a refusal.
    private static let tolerance = 5.0
    /// A longer difference is a broken server, not a clock.
    private static let longest = 50 * 365 * 86400.0
    private static let maximumOrigins = 64

    private let known = Mutex<[String: Double]>([:])

    /// Creates a record that doesn't know a server's clock yet.
    public init() {}

    /// Returns the date by a server's clock. For a server that isn't known, this is `now`.
    ///
    /// - Parameters:
    ///   - url: A URL of the server.
    ///   - now: The current date, by the device's clock.
    public func date(of url: URL, now: Date) -> Date {
        let origin = URLSyntax.origin(of: url)
        return now.addingTimeInterval(known.withLock { $0[origin] ?? 0 })
    }

    /// Remembers a server's clock if the `Date` of a refusal differs by more than five seconds from the signature's date.
    /// Returns whether it does, so a new signature may be accepted.
    ///
    /// - Parameters:
    ///   - response: The refusal. A response from a cache, with an `Age`, is ignored.
    ///   - url: The URL of the request.
    ///   - signedAt: The date in the signature.
    ///   - now: The current date, by the device's clock.
    public func learn(from response: HTTPResponse, to url: URL, signedAt: Date, now: Date) -> Bool {
        guard let theirs = response.headers.serverDate(now: now),
            abs(theirs.timeIntervalSince(signedAt)) > Self.tolerance,
            abs(theirs.timeIntervalSince(now)) < Self.longest
        else { return false }
        let origin = URLSyntax.origin(of: url)
        // The field counts whole seconds.
        let offset = theirs.timeIntervalSince(now) + 0.5
        known.withLock { known in
            if known[origin] == nil, known.count >= Self.maximumOrigins { known.removeAll() }
            known[origin] = offset
        }
        return true
    }
}
