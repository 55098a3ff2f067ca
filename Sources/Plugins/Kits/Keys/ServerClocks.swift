public import ErrandEssentials
public import ErrandHTTP
import ErrandMessageSyntax
import Synchronization

/// Learns how far servers' clocks differ from the device's clock, for signatures that contain a date. Remembers at most
/// 64 origins.
///
/// ```swift
/// let clocks = ServerClocks()
/// let signedAt = clocks.date(of: response.url, now: Date())
/// // … sign the request, send it, and if the server refuses the signature:
/// if clocks.learn(from: response, to: response.url, signedAt: signedAt, now: Date()) { /* sign and send it again */ }
/// ```
///
/// Use one object for each client. It doesn't affect other dates, such as dates in caches.
public final class ServerClocks: Sendable {
    /// The clock difference to ignore, in seconds. A server shouldn't refuse a signature because of a difference this
    /// small.
    private static let tolerance = 5.0
    /// The maximum clock difference, in seconds. A longer difference means that the server's clock is broken.
    private static let longest = 50 * 365 * 86400.0
    private static let maximumOrigins = 64

    private let known = Mutex<[String: Double]>([:])

    /// Creates an object that doesn't know any clocks.
    public init() {}

    /// Returns the date by a server's clock, or `now` if the server is unknown.
    public func date(of url: URL, now: Date) -> Date {
        let origin = URLSyntax.origin(of: url)
        return now.addingTimeInterval(known.withLock { $0[origin] ?? 0 })
    }

    /// Learns a server's clock from a refusal if its `Date` differs by more than five seconds from the signature's
    /// date. Returns `true` if so. A new signature may then be accepted.
    ///
    /// - Parameters:
    ///   - response: The refusal. Ignored if it has an `Age`, because it came from a cache.
    ///   - url: The request's URL.
    ///   - signedAt: The date in the signature.
    ///   - now: The current date, by the device's clock.
    public func learn(from response: HTTPResponse, to url: URL, signedAt: Date, now: Date) -> Bool {
        guard let theirs = response.headers.serverDate(now: now),
            abs(theirs.timeIntervalSince(signedAt)) > Self.tolerance,
            abs(theirs.timeIntervalSince(now)) < Self.longest
        else { return false }
        let origin = URLSyntax.origin(of: url)
        // The `Date` field doesn't contain fractions, so the server's clock is half a second ahead of it on average.
        let offset = theirs.timeIntervalSince(now) + 0.5
        known.withLock { known in
            if known[origin] == nil, known.count >= Self.maximumOrigins { known.removeAll() }
            known[origin] = offset
        }
        return true
    }
}
