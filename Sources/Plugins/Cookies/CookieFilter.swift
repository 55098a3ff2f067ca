public import Errand
import ErrandEssentials

/// Sends the cookies of a jar with each request on the wire, and keeps those of each response, redirects included.
public struct CookieFilter: Filter {
    private let jar: CookieJar

    init(_ jar: CookieJar) { self.jar = jar }

    /// Each request on the wire.
    public var stages: FilterStages { .hop }
    /// Adds cookies.
    public var traits: FilterTraits { .addsCookies }
    /// How many cookies there are.
    public var explanation: String { "cookies (\(jar))" }

    /// Adds the jar's cookies to those that the request has itself, which win, and keeps the response's, unless it comes from
    /// a cache. A file that cannot be written is a note for accessories, and no failure.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(sending(exchange))
        guard response.headers.contains(.setCookie), !response.source.isStored else { return response }
        try? jar.keep(
            response.headers.lazy.filter { $0.name == .setCookie }, from: exchange.http.url, at: exchange.time.date
        ) { rejection throws(CookieRejection) in exchange.note("cookies", rejection.description, details: rejection) }
        guard jar.isKeptInFile else { return response }
        do { try await jar.save(at: exchange.time.date) } catch {
            exchange.note("cookies", error.description, details: error)
        }
        return response
    }

    private func sending(_ exchange: Exchange) -> Exchange {
        var cookies = jar.cookies(for: exchange.http.url, at: exchange.time.date)
        if cookies.isEmpty { return exchange }
        var exchange = exchange
        if let own = exchange.http.headers[.cookie] {
            let names = Set(own.split(separator: ";").map { $0.prefix { $0 != "=" }.trimmed })
            cookies.removeAll { names.contains($0.name[...]) }
            if cookies.isEmpty { return exchange }
            let value = ([own] + cookies.map(\.pair)).joined(separator: "; ")
            exchange.http.headers.set(.cookie, value, sensitive: true)
        } else {
            exchange.http.headers.set(.cookie, cookies.map(\.pair).joined(separator: "; "), sensitive: true)
        }
        if cookies.contains(where: \.isLatin1) { exchange.http.headers = exchange.http.headers.latin1(.cookie) }
        return exchange
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
