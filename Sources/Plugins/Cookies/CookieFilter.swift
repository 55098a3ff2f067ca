public import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// Sends the cookies of a jar with each request on the wire, and stores those of each response, redirects included.
///
/// A group of two filters: one among the hop filters adds cookies, before a cache whose keys may depend on them; one
/// before the transport stores them, so that no cache, no validation in the background and no repeated request loses
/// any.
public struct CookieFilter: FilterGroup {
    /// The filter that adds cookies, and the filter that stores them.
    public let filters: [any Filter]

    init(_ jar: CookieJar) { filters = [CookieSender(jar: jar), CookieKeeper(jar: jar)] }
}

/// Adds the jar's cookies to those that the request brings, which take precedence.
private struct CookieSender: Filter {
    let jar: CookieJar

    var stages: FilterStages { .hop }
    var traits: FilterTraits { .addsCookies }
    var explanation: String { "cookies (\(jar))" }

    @inline(__always) func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let deliveries = exchange.possibleDeliveries
        let response = try await next(sending(exchange))
        if response.headers.contains(.setCookie) { keepOwn(response, exchange, deliveries) }
        return response
    }

    /// The cookies of a server were stored by the other filter; a response that a filter gives by itself has not passed
    /// it, and a cache must not set any.
    private func keepOwn(_ response: HTTPResponse, _ exchange: Exchange, _ deliveries: Int) {
        if exchange.possibleDeliveries == deliveries, !response.source.isStored { jar.keep(response, of: exchange) }
    }

    // Not in line, like all that needs no room in the frame of a request.
    @inline(never) private func sending(_ exchange: Exchange) -> Exchange {
        // A write behind an earlier response: that one's activity has ended.
        if let failure = jar.takeFailure() { exchange.note("cookies", failure.description, details: failure) }
        let http = exchange.http
        var cookies = jar.cookies(for: http.urlText, http.url, at: exchange.time.date)
        let fields = http.headers.contains(.cookie) ? http.headers.count { $0.name == .cookie } : 0
        if cookies.isEmpty, fields < 2 { return exchange }
        var exchange = exchange
        let own = exchange.http.headers[.cookie]
        if let own {
            // By bytes, as a server compares names.
            let pairs = own.utf8.split(separator: UInt8(ascii: ";"))
            let names = Set(pairs.map { Array(ASCII.trimmed(Substring($0.prefix { $0 != UInt8(ascii: "=") })).utf8) })
            cookies.removeAll { names.contains(Array($0.name.utf8)) }
            if cookies.isEmpty, fields < 2 { return exchange }
        }
        // A request has one such field (RFC 6265bis, section 5.8.1).
        let value = ((own.map { [$0] } ?? []) + cookies.map(\.pair)).joined(separator: "; ")
        exchange.http.headers.set(.cookie, value, sensitive: true)
        if cookies.contains(where: \.isLatin1) { exchange.http.headers = exchange.http.headers.latin1(.cookie) }
        return exchange
    }
}

/// Stores the cookies of each response that comes from a server.
private struct CookieKeeper: Filter {
    let jar: CookieJar

    var stages: FilterStages { .wire }
    var explanation: String { "keeps cookies" }

    @inline(__always) func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        if response.headers.contains(.setCookie) { jar.keep(response, of: exchange) }
        return response
    }
}

extension CookieJar {
    /// Stores the cookies of a response, and plans to write them. A rejected cookie is a note for accessories, and no
    /// failure.
    fileprivate func keep(_ response: HTTPResponse, of exchange: Exchange) {
        try? keep(
            response.headers.lazy.filter { $0.name == .setCookie }, from: exchange.http.url, at: exchange.time.date
        ) { rejection throws(CookieRejection) in exchange.note("cookies", rejection.description, details: rejection) }
        writeSoon(by: exchange.time)
    }
}

extension HTTPHeaders {
    /// The same headers, with a field that is sent in Latin-1 where that is possible.
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
    /// `filters: [.cookies(jar)]`
    public static func cookies(_ jar: CookieJar) -> CookieFilter { CookieFilter(jar) }

    /// A jar in memory that belongs to this agent alone: `filters: [.cookies]`.
    public static var cookies: CookieFilter { CookieFilter(CookieJar()) }
}
