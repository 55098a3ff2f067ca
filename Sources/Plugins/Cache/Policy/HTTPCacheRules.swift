import Errand
import ErrandSupport

import ErrandEssentials

/// RFC 9111 for a private cache, as functions of what is known: nothing here reads, writes or waits.
enum HTTPCacheRules {
    /// Why an answer must not be kept, nil if it may be (section 3).
    static func refusal(of response: HTTPResponse, to request: HTTPRequest) -> String? {
        let directives = CacheDirectives(response.headers)
        guard request.method == .get else { return "method" }
        guard (200...599).contains(response.status), response.status != 304, response.status != 206 else {
            return "status \(response.status)"
        }
        if CacheDirectives(request: request.headers).noStore { return "the request says no-store" }
        if directives.mustUnderstand {
            guard understoodStatuses.contains(response.status) else { return "status not understood" }
        } else if directives.noStore {
            return "no-store"
        }
        if VaryRule(response.headers).isStar { return "vary: *" }
        let isStorable =
            HTTPFreshness.isExplicit(response.headers, directives) || directives.isPublic || directives.isPrivate
            || HTTPFreshness.heuristicStatuses.contains(response.status)
        return isStorable ? nil : "no word about freshness"
    }

    /// Whether the answer to a POST may answer a GET for the URL (RFC 9110, section 9.3.3): it says so with an explicit
    /// lifetime and its `Content-Location`.
    static func answersGet(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard request.method == .post, response.status == 200,
            HTTPFreshness.isExplicit(response.headers, CacheDirectives(response.headers)),
            let location = response.headers.values(of: "Content-Location").first,
            let target = URL(string: location, relativeTo: request.url)?.absoluteURL
        else { return false }
        var asGet = request
        asGet.method = .get
        return KeyText.url(target) == KeyText.url(request.url) && refusal(of: response, to: asGet) == nil
    }

    /// What to do with a stored response.
    enum Plan: Sendable, Hashable {
        case serve(CacheStatus)
        /// Serve it, and validate it in the background (RFC 5861, section 3).
        case serveAndRevalidate(CacheStatus)
        case validate(CacheStatus)
    }

    /// What a call says beside its headers.
    struct Wish: Sendable, Hashable {
        /// Ask the server whatever is stored.
        var revalidates = false
        /// Serve whatever is stored, however old.
        var takesStale = false
        /// How many seconds after its lifetime a response may be served if the server cannot be reached.
        var staleIfError: Int64?
    }

    static func plan(
        _ fresh: HTTPFreshness, received: Date, request: CacheDirectives, wish: Wish = Wish(), now: Date
    ) -> Plan {
        guard let age = fresh.age(received: received, now: now) else {
            if wish.takesStale { return .serve(.hit(ttl: nil, detail: "the clock was set back")) }
            return .validate(.forward(.stale, detail: "the clock was set back"))
        }
        let ttl = fresh.lifetime - age
        if wish.takesStale { return .serve(.hit(ttl: ttl)) }
        let isImmutable = fresh.isImmutable && ttl > 0 && !fresh.noCache
        if request.noCache { return .validate(.forward(.request, detail: "no-cache")) }
        if wish.revalidates && !isImmutable { return .validate(.forward(.request)) }
        if fresh.noCache { return .validate(.forward(.stale, detail: "no-cache")) }
        // RFC 8246: who reloads says max-age=0, and need not ask for what cannot change.
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

    /// The status of serving a stale response because the server failed; nil if that is not allowed (section 4.2.4,
    /// RFC 5861, section 4).
    static func staleOnError(
        _ fresh: HTTPFreshness, received: Date, request: CacheDirectives, wish: Wish = Wish(), now: Date
    ) -> CacheStatus? {
        guard let age = fresh.age(received: received, now: now), !request.noCache else { return nil }
        let ttl = fresh.lifetime - age
        if fresh.mustRevalidate && ttl <= 0 || fresh.noCache { return nil }
        let windows = [fresh.staleIfError, request.staleIfError, wish.staleIfError].compactMap(\.self)
        guard let window = windows.max(), -ttl <= window else { return nil }
        return CacheStatus(forward: .stale, timeToLive: ttl, detail: "stale-if-error")
    }

    /// The answers that count as the failure of a server (RFC 5861, section 4).
    static func isServerFailure(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }

    /// The URLs whose stored responses an answer to an unsafe request makes invalid (section 4.4): its own and, on the
    /// same origin, those that `Location` and `Content-Location` name.
    static func invalidated(by response: HTTPResponse, to request: HTTPRequest) -> [URL] {
        guard !request.method.isSafe, (200...399).contains(response.status) else { return [] }
        var urls = [request.url]
        for name: HTTPHeaderName in [.location, "Content-Location"] {
            for value in response.headers.values(of: name) {
                guard let url = URL(string: value, relativeTo: request.url)?.absoluteURL,
                    KeyText.origin(url) == KeyText.origin(request.url), !urls.contains(url)
                else { continue }
                urls.append(url)
            }
        }
        return urls
    }

    private static let understoodStatuses: Set<Int> = [
        200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409,
        410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]
}
