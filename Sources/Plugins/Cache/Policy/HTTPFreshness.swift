import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The freshness of a response when it's stored (RFC 9111, section 4.2). Times are in seconds.
struct HTTPFreshness: Sendable, Hashable {
    var lifetime: Int64 = 0
    var initialAge: Int64 = 0
    var isHeuristic = false
    var noCache = false
    var mustRevalidate = false
    var isImmutable = false
    var staleWhileRevalidate: Int64?
    var staleIfError: Int64?

    /// The longest lifetime, about 68 years (section 1.2.2).
    private static let maximumLifetime: TimeInterval = 0x1p31
    /// The longest age, about 272 years. It exceeds the sum of the longest lifetime and the longest staleness that a
    /// directive allows, and a sum of such ages doesn't overflow.
    private static let maximumAge: TimeInterval = 0x1p33
    /// A week. The lifetime is a tenth of the time since the last change (section 4.2.2), but not longer than this.
    private static let maximumHeuristicLifetime: Int64 = 7 * 86_400

    init() {}

    /// - Parameter received: When the response's head arrived.
    init(status: Int, headers: HTTPHeaders, sent: Date, received: Date) {
        let directives = CacheDirectives(headers)
        let date = headers.values(of: .date).first.flatMap { HTTPDate.parse($0, now: received) }
        let apparent = date.map { received.timeIntervalSince($0) } ?? 0
        let delay = max(0, received.timeIntervalSince(sent))
        let ageField = Self.age(headers)
        initialAge = Int64(min(max(apparent, ageField + delay, 0), Self.maximumAge))
        (lifetime, isHeuristic) = Self.lifetime(
            status: status, headers: headers, directives: directives, date: date ?? received)
        noCache = directives.noCache
        mustRevalidate = directives.mustRevalidate
        isImmutable = directives.isImmutable
        staleWhileRevalidate = directives.staleWhileRevalidate
        staleIfError = directives.staleIfError
    }

    /// Returns the response's lifetime (section 4.2.1). Ignores `s-maxage`, which applies only to shared caches.
    private static func lifetime(
        status: Int, headers: HTTPHeaders, directives: CacheDirectives, date: Date
    ) -> (Int64, Bool) {
        if let maxAge = directives.maxAge { return (maxAge, false) }
        let expires = headers.values(of: .expires)
        if !expires.isEmpty {
            // An invalid date, such as 0, is in the past (section 5.3).
            let dates = expires.map { HTTPDate.parse($0, now: date) ?? .distantPast }
            return (seconds((dates.min() ?? .distantPast).timeIntervalSince(date)), false)
        }
        guard heuristicStatuses.contains(status) || directives.isPublic,
            let modified = headers.values(of: .lastModified).first.flatMap({ HTTPDate.parse($0, now: date) })
        else { return (0, true) }
        return (min(seconds(date.timeIntervalSince(modified) / 10), maximumHeuristicLifetime), true)
    }

    private static func seconds(_ interval: TimeInterval) -> Int64 { Int64(min(max(interval, 0), maximumLifetime)) }

    /// Returns the value of `Age` (section 5.1).
    private static func age(_ headers: HTTPHeaders) -> Double {
        guard let first = headers.values(of: .age).first.flatMap({ FieldList.allItems($0).first }) else { return 0 }
        return CacheDirectives.seconds(String(first)).map(Double.init) ?? 0
    }

    static func isExplicit(_ headers: HTTPHeaders, _ directives: CacheDirectives) -> Bool {
        directives.maxAge != nil || headers.contains(.expires)
    }

    /// Returns the response's current age (section 4.2.3), or nil if the clock has been set back by more than a minute.
    func age(received: Date, now: Date) -> Int64? {
        let resident = now.timeIntervalSince(received)
        if resident < -60 { return nil }
        return initialAge + Int64(min(max(resident, 0), Self.maximumAge))
    }

    /// The statuses whose responses can have a heuristic lifetime (RFC 9110, section 15.1).
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
}
