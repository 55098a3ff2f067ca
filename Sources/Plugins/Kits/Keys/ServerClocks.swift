public import ErrandEssentials
public import ErrandHTTP
import ErrandMessageSyntax
import Synchronization

/// Learns how far servers' clocks differ from the device's clock. Use it for signatures that contain a date, because
/// servers refuse dates that differ too much. Remembers the clocks of at most 64 origins.
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
    /// The smallest difference to learn, in seconds. A server shouldn't refuse a signature because of a smaller
    /// difference.
    private static let tolerance = 5.0
    /// How far a signature's date may be ahead of the server's clock, in seconds. Many servers refuse dates in their
    /// future. The tolerance is a second because the `Date` field contains whole seconds.
    private static let longestLead = 1.0
    /// The largest difference to learn, in seconds. With a larger difference, the server is broken.
    private static let longest = 50 * 365 * 86400.0
    private static let maximumOrigins = 64

    private struct Clock {
        /// The seconds by which the server's clock is ahead of the device's clock.
        var offset: Double
        /// The earlier offset.
        var earlier: Double
        /// When this offset was learned, by the device's clock.
        var learned: Date

        /// Whether a signature's date is from before this offset was learned. Such a date is too late only if the
        /// offset has grown.
        func isNewer(than signedAt: Date, tolerance: Double) -> Bool {
            offset - earlier > tolerance && signedAt.addingTimeInterval(-earlier) <= learned
        }
    }

    private let known = Mutex<[String: Clock]>([:])

    /// Creates an object that doesn't know any clocks.
    public init() {}

    /// Returns the current date by a server's clock, or `now` if that clock is unknown.
    public func date(of url: URL, now: Date) -> Date {
        let origin = URLSyntax.origin(of: url)
        return now.addingTimeInterval(known.withLock { $0[origin]?.offset ?? 0 })
    }

    /// Learns a server's clock from a response that refused a signature. Returns `true` if the clock differs, so the
    /// server may accept a new signature with a corrected date.
    ///
    /// The clock differs if the response's `Date` is more than a second before the signature's date, or more than five
    /// seconds after the date that the known clock shows. The signature's date can also be from before this object
    /// learned the clock, if another request was refused in the meantime.
    ///
    /// - Parameters:
    ///   - response: The refusal. A response from a cache, with an `Age`, is ignored.
    ///   - url: The URL of the request.
    ///   - signedAt: The date in the signature, from before the request was sent.
    ///   - now: The current date, by the device's clock.
    public func learn(from response: HTTPResponse, to url: URL, signedAt: Date, now: Date) -> Bool {
        guard let theirs = response.headers.serverDate(now: now), abs(theirs.timeIntervalSince(now)) < Self.longest
        else { return false }
        let origin = URLSyntax.origin(of: url)
        let isAhead = signedAt.timeIntervalSince(theirs) > Self.longestLead
        return known.withLock { known in
            let clock = known[origin]
            let offset = clock?.offset ?? 0
            guard isAhead || theirs.timeIntervalSince(now.addingTimeInterval(offset)) > Self.tolerance else {
                return clock?.isNewer(than: signedAt, tolerance: Self.tolerance) == true
                    && theirs.timeIntervalSince(signedAt) > Self.tolerance
            }
            if clock == nil, known.count >= Self.maximumOrigins { known.removeAll() }
            // The `Date` field doesn't contain fractions, so the server's clock is half a second ahead of it on
            // average.
            known[origin] = Clock(offset: theirs.timeIntervalSince(now) + 0.5, earlier: offset, learned: now)
            return true
        }
    }
}
