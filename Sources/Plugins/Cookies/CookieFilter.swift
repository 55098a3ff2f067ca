public import Errand
import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// Sends the cookies in a jar with each request on the wire, and stores the cookies from each response, including
/// redirects.
///
/// This group contains two filters. The first filter runs for each request on the wire and adds the cookies. It runs
/// ahead of any cache, because cache keys may depend on cookies. The second filter runs right before the transport and
/// stores cookies, so it also sees the responses to retries and background validations. ``CookieMode`` turns them off
/// for a request or call.
public struct CookieFilter: FilterGroup {
    /// The filter that adds cookies, and the filter that stores them.
    public let filters: [any Filter]

    init(_ jar: CookieJar) { filters = [CookieSender(jar: jar), CookieKeeper(jar: jar)] }
}

/// Adds the jar's cookies to a request. The request's own cookies take precedence, until a response to the call sets or
/// removes a cookie with the same name.
private struct CookieSender: Filter {
    let jar: CookieJar

    var stages: FilterStages { .hop }
    var traits: FilterTraits { .addsCookies }
    var explanation: String { "cookies (\(jar))" }

    @inline(__always) func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let deliveries = exchange.possiblyReceivedCount
        let response = try await next(sending(exchange))
        if exchange.keepsCookies(of: response) { keepOwn(response, of: exchange, deliveries: deliveries) }
        return response
    }

    /// Stores the cookies of a response that a filter created without sending the request. `CookieKeeper` has already
    /// stored the cookies of other responses. Cached responses must not set cookies.
    private func keepOwn(_ response: HTTPResponse, of exchange: Exchange, deliveries: Int) {
        if exchange.possiblyReceivedCount == deliveries, !response.source.isStored { jar.keep(response, of: exchange) }
    }

    // Kept out of line, because inlining would enlarge an async frame that lives as long as the request.
    @inline(never) private func sending(_ exchange: Exchange) -> Exchange {
        // Report a failed write here, because the file is written after the request that changed the jar has ended.
        if let failure = jar.takeFailure() { exchange.note("cookies", describing: failure) }
        if exchange.tags[CookieMode.self] == .off { return exchange }
        let http = exchange.http
        var cookies = jar.entries(for: http.urlText, http.url, at: exchange.time.date)
        let fields = http.headers.contains(.cookie) ? http.headers.count { $0.name == .cookie } : 0
        var own = fields == 0 ? nil : http.headers[.cookie]
        var isChanged = fields > 1
        if let given = own {
            let renewed = exchange.once(jar.renewedCookies) { RenewedCookies() }
            var pairs = given.utf8.split(separator: UInt8(ascii: ";")).map { ASCII.trimmed(Substring($0)) }
            let count = pairs.count
            renewed.remove(from: &pairs, replacedBy: cookies)
            if pairs.count < count { (own, isChanged) = (pairs.joined(separator: "; "), true) }
            // Compare bytes, because servers do.
            let names = Set(pairs.map(RenewedCookies.name))
            cookies.removeAll { names.contains(Array($0.cookie.name.utf8)) }
        }
        if cookies.isEmpty, !isChanged { return exchange }
        // A request has at most one `Cookie` field (RFC 6265bis, section 5.8.1).
        var value = own ?? ""
        for cookie in cookies {
            if !value.isEmpty { value += "; " }
            value += cookie.pair
        }
        var exchange = exchange
        exchange.http.headers.set(.cookie, value, sensitive: true)
        if value.isEmpty { exchange.http.headers.remove(.cookie) }
        if cookies.contains(where: { $0.cookie.isLatin1 }) {
            exchange.http.headers = exchange.http.headers.latin1(.cookie)
        }
        return exchange
    }
}

private struct CookieKeeper: Filter {
    let jar: CookieJar

    var stages: FilterStages { .wire }
    var explanation: String { "stores cookies" }

    @inline(__always) func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        if exchange.keepsCookies(of: response) { jar.keep(response, of: exchange) }
        return response
    }
}

extension Exchange {
    fileprivate func keepsCookies(of response: HTTPResponse) -> Bool {
        response.headers.contains(.setCookie) && tags[CookieMode.self] == .standard
    }
}

extension CookieJar {
    /// Stores a response's cookies. A rejected cookie doesn't fail the request, but accessories receive a note.
    fileprivate func keep(_ response: HTTPResponse, of exchange: Exchange) {
        let (fields, date) = (response.headers.lazy.filter { $0.name == .setCookie }, exchange.time.date)
        var hasRejections = false
        try? keep(
            fields, from: exchange.http.url, at: date,
            expiring: { response.headers.localDate($0, now: date) }
        ) { rejection throws(CookieRejection) in
            hasRejections = true
            exchange.note("cookies", describing: rejection)
        }
        // A rejected field can't remove a cookie of the call.
        exchange.value(of: renewedCookies)?.add(
            fields.compactMap { try? SetCookie(parsing: $0.value, limits: limits) }, allowsRemoval: !hasRejections,
            at: date)
        writeSoon(by: exchange.time)
    }
}

/// The names of the cookies that responses to a call have set or removed. It exists only in calls with cookies of their
/// own.
///
/// A server can redirect until it receives the cookie that the redirect has set. If the call's own cookie with the same
/// name took precedence, the redirects wouldn't end.
final class RenewedCookies: Sendable {
    private struct State: Sendable {
        var set: Set<[UInt8]> = []
        var removed: Set<[UInt8]> = []
    }

    private let state = Mutex(State())

    static func name(of pair: Substring) -> [UInt8] {
        Array(ASCII.trimmed(Substring(pair.utf8.prefix { $0 != UInt8(ascii: "=") })).utf8)
    }

    fileprivate func add(_ cookies: [SetCookie], allowsRemoval: Bool, at date: Date) {
        state.withLock { state in
            for cookie in cookies {
                let name = Array(cookie.name.utf8)
                let isRemoval = cookie.maxAge.map { $0 <= 0 } ?? cookie.expires.map { $0 <= date } ?? false
                if !isRemoval { state.set.insert(name) }
                if isRemoval, allowsRemoval { state.removed.insert(name) } else { state.removed.remove(name) }
            }
        }
    }

    /// Removes the call's own pairs that the server has removed, or for which the jar has the server's cookie.
    fileprivate func remove(from pairs: inout [Substring], replacedBy cookies: [CookieTable.Entry]) {
        let state = state.withLock { $0 }
        if state.set.isEmpty, state.removed.isEmpty { return }
        let sent = Set(cookies.map { Array($0.cookie.name.utf8) })
        pairs.removeAll { pair in
            let name = Self.name(of: pair)
            return state.removed.contains(name) || state.set.contains(name) && sent.contains(name)
        }
    }
}

extension HTTPHeaders {
    fileprivate func latin1(_ name: HTTPHeaderName) -> HTTPHeaders {
        HTTPHeaders(
            map { field in
                var field = field
                if field.name == name { field.isLatin1 = field.value.unicodeScalars.allSatisfy { $0.value < 0x100 } }
                return field
            })
    }
}

extension Filter where Self == CookieFilter {
    /// Creates filters that use a jar: `filters: [.cookies(jar)]`.
    public static func cookies(_ jar: CookieJar) -> CookieFilter { CookieFilter(jar) }

    /// Creates filters that use an in-memory jar for this agent alone: `filters: [.cookies]`.
    public static var cookies: CookieFilter { CookieFilter(CookieJar()) }
}
