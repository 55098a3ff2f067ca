public import Errand
import ErrandEssentials

/// Sends the cookies of a jar with each request on the wire, and keeps those of each response, redirects included.
///
/// A group of two: one among the hop filters adds cookies, before a cache whose keys may ask for them; one before the transport
/// keeps them, so that no cache, no validation in the background and no request that is sent again loses any.
public struct CookieFilter: FilterGroup {
    /// The one that adds cookies, and the one that keeps them.
    public let filters: [any Filter]

    init(_ jar: CookieJar) { filters = [CookieSender(jar: jar), CookieKeeper(jar: jar)] }
}

/// Adds the jar's cookies to those that the request has itself, which win.
private struct CookieSender: Filter {
    let jar: CookieJar

    var stages: FilterStages { .hop }
    var traits: FilterTraits { .addsCookies }
    var explanation: String { "cookies (\(jar))" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let deliveries = exchange.possibleDeliveries
        let response = try await next(sending(exchange))
        // What came from a server was kept on its way; what a filter in its place responds was not, nor may a cache set any.
        if response.headers.contains(.setCookie), exchange.possibleDeliveries == deliveries, !response.source.isStored {
            await jar.keep(response, of: exchange)
        }
        return response
    }

    private func sending(_ exchange: Exchange) -> Exchange {
        var cookies = jar.cookies(for: exchange.http.url, at: exchange.time.date)
        let fields = exchange.http.headers.count { $0.name == .cookie }
        if cookies.isEmpty, fields < 2 { return exchange }
        var exchange = exchange
        let own = exchange.http.headers[.cookie]
        if let own {
            let names = Set(own.split(separator: ";").map { $0.prefix { $0 != "=" }.trimmed })
            cookies.removeAll { names.contains($0.name[...]) }
            if cookies.isEmpty, fields < 2 { return exchange }
        }
        // A request has one such field (RFC 6265bis, section 5.8.1).
        let value = ((own.map { [$0] } ?? []) + cookies.map(\.pair)).joined(separator: "; ")
        exchange.http.headers.set(.cookie, value, sensitive: true)
        if cookies.contains(where: \.isLatin1) { exchange.http.headers = exchange.http.headers.latin1(.cookie) }
        return exchange
    }
}

/// Keeps the cookies of each response that comes from a server.
private struct CookieKeeper: Filter {
    let jar: CookieJar

    var stages: FilterStages { .wire }
    var explanation: String { "keeps cookies" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        if response.headers.contains(.setCookie) { await jar.keep(response, of: exchange) }
        return response
    }
}

extension CookieJar {
    /// Keeps the cookies of a response. What is not kept, and a file that cannot be written, is a note for accessories, and no
    /// failure.
    fileprivate func keep(_ response: HTTPResponse, of exchange: Exchange) async {
        try? keep(
            response.headers.lazy.filter { $0.name == .setCookie }, from: exchange.http.url, at: exchange.time.date
        ) { rejection throws(CookieRejection) in exchange.note("cookies", rejection.description, details: rejection) }
        guard isKeptInFile else { return }
        do { try await save(at: exchange.time.date) } catch {
            exchange.note("cookies", error.description, details: error)
        }
    }
}

extension Substring {
    /// Without blanks at its ends.
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        return start[
            ..<(start.lastIndex { $0 != " " && $0 != "\t" }.map { start.index(after: $0) } ?? start.startIndex)]
    }
}

extension HTTPHeaders {
    /// The same with a field that goes over the wire in Latin-1, if it can.
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

    /// A jar in memory that is this agent's alone: `filters: [.cookies]`.
    public static var cookies: CookieFilter { CookieFilter(CookieJar()) }
}
