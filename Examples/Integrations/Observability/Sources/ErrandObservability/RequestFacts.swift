import Errand

/// The attributes that the semantic conventions require of a request on the wire, as far as they're known before it is
/// sent.
struct RequestFacts {
    /// The method, or `_OTHER` if it isn't a known method.
    let method: String
    /// The method as sent, if it isn't a known method.
    let originalMethod: String?
    /// The host in lowercase, without brackets.
    let address: String
    let port: Int
    /// The path's template, if the app provides one.
    let template: String?

    init(_ exchange: Exchange, knownMethods: Set<String>) {
        let (http, name) = (exchange.http, exchange.http.method.rawValue)
        let isKnown = knownMethods.contains(name)
        (method, originalMethod) = (isKnown ? name : Self.other, isKnown ? nil : name)
        (address, port) = Self.server(of: http.urlText)
        template = exchange.tags[URLTemplate.self]
    }

    /// The value for anything outside of a bounded list.
    static let other = "_OTHER"

    /// The methods of RFC 9110, section 9, and of RFC 5789.
    static let knownMethods: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
    ]

    /// Extracts host and port from an absolute URL's text without creating a `URL`.
    static func server(of url: String) -> (address: String, port: Int) {
        var url = url
        return url.withUTF8 { bytes in
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return ("", 80) }
            var authority = bytes.dropFirst(colon + 3).prefix { byte in
                byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
            }
            var port = colon == 5 ? 443 : 80
            let digits = authority.reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            let host = authority.dropLast(digits)
            if host.last == UInt8(ascii: ":") {
                port = authority.suffix(digits).reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), 65_535) }
                authority = host.dropLast()
            }
            if authority.first == UInt8(ascii: "[") { authority = authority.dropFirst().dropLast() }
            return (String(decoding: authority, as: UTF8.self).lowercased(), port)
        }
    }
}

/// How a request on the wire ended.
struct RequestEnd {
    let status: Int?
    /// The protocol version, such as "1.1" or "2".
    let version: String?
    /// The status if it is 400 or above, or the failure's name. Nil for a success, and for a cancellation, because the
    /// caller asked for it.
    let errorType: String?

    init(_ response: HTTPResponse) {
        (status, version) = (response.status, response.version)
        errorType = response.status < 400 ? nil : String(response.status)
    }

    init(_ error: any Error) {
        let response = (error as? any RequestFailure)?.response
        (status, version) = (response?.status, response?.version)
        errorType = error.isCancellation || Task.isCancelled ? nil : Redaction.name(of: error)
    }
}
