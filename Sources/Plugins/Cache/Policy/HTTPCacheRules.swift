import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The rules of RFC 9111 for a private cache, as pure functions.
enum HTTPCacheRules {
    /// Returns why a response can't be stored, or nil if it can (section 3).
    static func refusal(
        of response: HTTPResponse, to request: HTTPRequest, _ asked: CacheDirectives? = nil
    ) -> String? {
        guard request.method == .get else { return "method" }
        guard (200...599).contains(response.status), !unstoredStatuses.contains(response.status) else {
            return "status \(response.status)"
        }
        if (asked ?? CacheDirectives(request.headers)).noStore { return "the request has no-store" }
        let directives = CacheDirectives(response.headers)
        if directives.mustUnderstand {
            guard understoodStatuses.contains(response.status) else {
                return "must-understand with a status that the cache doesn't understand"
            }
        } else if directives.noStore {
            return "no-store"
        }
        if VaryRule(response.headers).isStar { return "vary: *" }
        let isStorable =
            HTTPFreshness.isExplicit(response.headers, directives) || directives.isPublic || directives.isPrivate
            || HTTPFreshness.heuristicStatuses.contains(response.status)
        return isStorable ? nil : "no explicit or heuristic freshness"
    }

    /// Whether a response to POST can be stored for GET (RFC 9110, section 9.3.3). Needs an explicit lifetime and a
    /// `Content-Location` with the same URL.
    static func isStorableForGet(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard request.method == .post, response.status == 200,
            HTTPFreshness.isExplicit(response.headers, CacheDirectives(response.headers)),
            let location = response.headers.first(where: { $0.name == .contentLocation }),
            let target = target(of: location, from: request.url)
        else { return false }
        var asGet = request
        asGet.method = .get
        return target == CacheKeyBuilder.url(request.url) && refusal(of: response, to: asGet) == nil
    }

    /// Returns the URL in the spelling of the keys, or nil for another origin.
    private static func target(of field: HTTPHeaders.Field, from url: URL) -> String? {
        guard let target = try? field.reference.requestURL(against: url),
            URLSyntax.origin(of: target) == URLSyntax.origin(of: url)
        else { return nil }
        // Use the request's spelling, because the target is normalized.
        let (text, spelled) = (CacheKeyBuilder.url(target), CacheKeyBuilder.url(url))
        guard let own = try? URLReference("").requestURL(against: url) else { return text }
        if own.absoluteString == text { return spelled }
        guard let ownEnd = try? URLSyntax.check(spelled), let end = try? URLSyntax.check(text) else { return text }
        return String(Substring(spelled.utf8.prefix(ownEnd)) + Substring(text.utf8.dropFirst(end)))
    }

    enum Decision: Sendable, Hashable {
        case serve(CacheStatus)
        /// Serves the stored response and validates it in the background (RFC 5861, section 3).
        case serveAndRevalidate(CacheStatus)
        case validate(CacheStatus)

        var status: CacheStatus {
            switch self {
            case .serve(let status), .serveAndRevalidate(let status), .validate(let status): status
            }
        }

        var usesStored: Bool { if case .validate = self { false } else { true } }
        var revalidates: Bool { if case .serveAndRevalidate = self { true } else { false } }
    }

    /// The preferences from the call's mode and the policy.
    struct CallPreferences: Sendable, Hashable {
        var requiresValidation = false
        var acceptsStale = false
        var staleIfError: Int64?
    }

    static func decide(
        _ fresh: HTTPFreshness, received: Date, request: CacheDirectives,
        preferences: CallPreferences = CallPreferences(), now: Date
    ) -> Decision {
        guard let age = fresh.age(received: received, now: now) else {
            if preferences.acceptsStale { return .serve(.hit(ttl: nil, detail: "the clock was set back")) }
            return .validate(.forward(.stale, detail: "the clock was set back"))
        }
        let ttl = fresh.lifetime - age
        if preferences.acceptsStale { return .serve(.hit(ttl: ttl)) }
        let isImmutable = fresh.isImmutable && ttl > 0 && !fresh.noCache
        if request.noCache { return .validate(.forward(.request, detail: "no-cache")) }
        if preferences.requiresValidation && !isImmutable { return .validate(.forward(.request)) }
        if fresh.noCache { return .validate(.forward(.stale, detail: "no-cache")) }
        // An immutable response isn't validated on reload, which sends `max-age=0` (RFC 8246, section 2).
        if let maxAge = request.maxAge, age > maxAge || maxAge == 0, !isImmutable {
            return .validate(.forward(.request, detail: "max-age"))
        }
        if let minFresh = request.minFresh, ttl < minFresh {
            return .validate(.forward(.request, detail: "min-fresh"))
        }
        if ttl > 0 { return .serve(.hit(ttl: ttl, detail: fresh.isHeuristic ? "heuristic" : nil)) }
        if fresh.mustRevalidate { return .validate(.forward(.stale, detail: "must-revalidate")) }
        if let maxStale = request.maxStale, -ttl <= maxStale { return .serve(.hit(ttl: ttl, detail: "max-stale")) }
        if let window = fresh.staleWhileRevalidate, -ttl <= window, request.maxAge == nil, request.minFresh == nil {
            return .serveAndRevalidate(.hit(ttl: ttl, detail: "stale-while-revalidate"))
        }
        return .validate(.forward(.stale))
    }

    /// Returns the cache's status for a stale response after an error, or nil if the response can't be served (section
    /// 4.2.4; RFC 5861, section 4).
    static func staleOnError(
        _ fresh: HTTPFreshness, received: Date, request: CacheDirectives,
        preferences: CallPreferences = CallPreferences(), now: Date
    ) -> CacheStatus? {
        guard let age = fresh.age(received: received, now: now), !request.noCache else { return nil }
        let ttl = fresh.lifetime - age
        if fresh.mustRevalidate && ttl <= 0 || fresh.noCache { return nil }
        let windows = [fresh.staleIfError, request.staleIfError, preferences.staleIfError].compactMap(\.self)
        guard let window = windows.max(), -ttl <= window else { return nil }
        return CacheStatus(forward: .stale, timeToLive: ttl, detail: "stale-if-error")
    }

    static func isServerFailure(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }

    /// Returns the URLs whose responses a response invalidates (section 4.4).
    static func invalidated(by response: HTTPResponse, to request: HTTPRequest) -> [String] {
        guard !request.method.isSafe, (200...399).contains(response.status) else { return [] }
        var urls = [CacheKeyBuilder.url(request.url)]
        for field in response.headers where field.name == .location || field.name == .contentLocation {
            guard let url = target(of: field, from: request.url), !urls.contains(url) else { continue }
            urls.append(url)
        }
        return urls
    }

    /// Whether a timed entry can have this status. A key may contain a range, but never a condition or an expectation.
    static func isStorableTimed(_ status: Int, keyHasRange: Bool) -> Bool {
        status == 206 || status == 416 ? keyHasRange : !unstoredStatuses.contains(status)
    }

    /// These responses depend on a range, a condition or an expectation, which an HTTP entry's key doesn't contain.
    private static let unstoredStatuses: Set<Int> = [206, 304, 412, 416, 417]

    private static let understoodStatuses: Set<Int> = [
        200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409,
        410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]
}
