/// One alternative of an `Alt-Svc` field (RFC 7838): `h3=":443"; ma=86400`.
///
/// ```swift
/// let services = AlternativeService.parse(response.headers.values(of: .altSvc))
/// services?.first { $0.protocolName == "h3" }?.port        // 443
/// ```
public struct AlternativeService: Sendable, Hashable {
    /// The protocol as it is named in a TLS handshake (RFC 7301), such as `h3`.
    public var protocolName: String
    /// The host in normalized form; nil for that of the origin.
    public var host: String?
    /// From 1 to 65,535.
    public var port: Int
    /// The seconds for which the alternative may be used, from the response on; a day by default (section 3.1).
    public var maximumAge: Int
    /// Whether it may be used after a change of the network (section 3.1).
    public var isPersistent: Bool

    /// Makes an alternative.
    public init(
        _ protocolName: String, host: String? = nil, port: Int, maximumAge: Int = 86_400, isPersistent: Bool = false
    ) {
        (self.protocolName, self.host, self.port) = (protocolName, host, port)
        (self.maximumAge, self.isPersistent) = (maximumAge, isPersistent)
    }

    /// The alternatives of one or more field lines, in the server's order, at most 32; text that is none is left out.
    /// Nil for `clear`, which makes those of earlier responses invalid (section 3).
    public static func parse(_ values: [String]) -> [AlternativeService]? {
        let items = FieldList.items(values)
        if items.contains("clear") { return nil }
        return items.prefix(32).compactMap(service)
    }

    private static func service(_ item: Substring) -> AlternativeService? {
        let parts = FieldList.split(item, at: UInt8(ascii: ";"))
        var scanner = FieldScanner(parts[0])
        guard let token = scanner.token(), let name = PercentEncoding.decode(token), scanner.skip(UInt8(ascii: "=")),
            let authority = scanner.quotedString(), scanner.isClosed, scanner.isAtEnd,
            let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = ASCII.digits(authority[authority.utf8.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        let parameters = FieldParameters(parsing: parts.dropFirst().joined(separator: ";"))
        var service = AlternativeService(name, port: Int(port))
        if colon != authority.startIndex {
            guard let host = HostName.normalized(String(authority[..<colon])) else { return nil }
            service.host = host
        }
        if let age = parameters["ma"].flatMap({ ASCII.digits($0) }) { service.maximumAge = Int(clamping: age) }
        service.isPersistent = parameters["persist"] == "1"
        return service
    }
}
