#if os(Linux) || os(Android)
import ErrandMessageSyntax

/// An alternative service from an `Alt-Svc` field (RFC 7838): `h3=":443"; ma=86400`.
struct AlternativeService: Sendable, Hashable {
    /// The name in TLS handshakes (RFC 7301), such as `h3`.
    var protocolName: String
    /// The alternative's host, or nil for the host of the origin.
    var host: String?
    var port: Int
    /// How long the alternative is valid, in seconds after the response. Defaults to a day (section 3.1).
    var maximumAge: Int
    /// Whether the alternative stays valid after a network change (section 3.1).
    var isPersistent: Bool

    init(
        _ protocolName: String, host: String? = nil, port: Int, maximumAge: Int = 86_400, isPersistent: Bool = false
    ) {
        (self.protocolName, self.host, self.port) = (protocolName, host, port)
        (self.maximumAge, self.isPersistent) = (maximumAge, isPersistent)
    }

    /// Returns the alternatives in a field, or nil for `clear`, which invalidates earlier alternatives (section 3).
    static func parse(_ values: [String]) -> [AlternativeService]? {
        let items = FieldList.items(values)
        if items.contains("clear") { return nil }
        return items.prefix(32).compactMap(service)
    }

    private static func service(_ item: Substring) -> AlternativeService? {
        let (offer, rest) = halves(item, at: ";")
        let (token, quoted) = halves(ASCII.trimmed(offer), at: "=")
        guard !token.isEmpty, token.utf8.allSatisfy(ASCII.isToken),
            let name = PercentEncoding.decode(token), let authority = QuotedString.content(quoted),
            let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = ASCII.digits(authority[authority.utf8.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        let parameters = FieldParameters(parsing: rest)
        var service = AlternativeService(name, port: Int(port))
        if colon != authority.startIndex {
            guard let host = HostName.normalized(String(authority[..<colon])) else { return nil }
            service.host = host
        }
        if let age = parameters["ma"].flatMap({ ASCII.digits($0) }) { service.maximumAge = Int(clamping: age) }
        service.isPersistent = parameters["persist"] == "1"
        return service
    }

    private static func halves(_ text: Substring, at separator: Unicode.Scalar) -> (Substring, Substring) {
        let scalars = text.unicodeScalars
        guard let index = scalars.firstIndex(of: separator) else { return (text, "") }
        return (text[..<index], text[scalars.index(after: index)...])
    }
}
#endif
