public import ErrandEssentials

/// An absolute or relative URL from a server, such as the value of a `Location` or a URL in a body.
///
/// ```swift
/// let next = URLReference("/a%20b/x[1]")
/// try next.resolved(against: response.url)       // https://example.com/a%20b/x%5B1%5D
/// ```
///
/// A reference is resolved like in browsers (WHATWG URL). Existing escapes are kept, invalid characters are
/// percent-encoded, backslashes become slashes, and an internationalized host becomes Punycode. The result is always a
/// valid URI (RFC 3986).
///
/// Use it for every URL that your app receives. Foundation's `URL(string:)` escapes `%20` again if another character is
/// invalid.
public struct URLReference: Sendable, Hashable {
    /// The maximum length of a reference in bytes: 2 MiB, as in Chromium.
    public static let maximumLength = 2 << 20

    private let bytes: [UInt8]

    /// Creates a reference from text. Percent-encodes non-ASCII characters as UTF-8.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// Creates a reference from the bytes of a field or a body. A byte 0xE9 becomes `%E9`.
    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Creates a reference from text. If the text was decoded as Latin-1, the reference contains the original bytes.
    package init(_ text: String, isLatin1: Bool) {
        let isSingle = isLatin1 && text.unicodeScalars.allSatisfy { $0.value <= 0xFF }
        bytes = isSingle ? text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(text.utf8)
    }

    /// Returns the absolute URL, with any scheme.
    ///
    /// - Parameter base: The URL for a relative reference. Defaults to `nil`, which requires an absolute reference.
    /// - Throws: ``URLSyntax/Fault`` if the reference isn't a URL.
    public func resolved(against base: URL? = nil) throws(URLSyntax.Fault) -> URL {
        try Self.url(parsed(against: base))
    }

    /// Returns the absolute http or https URL for a request, without credentials.
    ///
    /// - Parameter base: The URL of the response that contains the reference.
    /// - Throws: ``URLSyntax/Fault`` if the reference isn't a URL or can't be requested.
    public func requestURL(against base: URL) throws(URLSyntax.Fault) -> URL {
        try Self.requestURL(parsed(against: base))
    }

    /// Returns the URL of a redirect. Inherits the base's fragment if the reference doesn't contain one (RFC 9110,
    /// section 10.2.2).
    package func redirectURL(
        from base: URL, table: InternationalName.Table = .system
    ) throws(URLSyntax.Fault) -> URL {
        var url = try parsed(against: base, table: table)
        if url.fragment == nil { url.fragment = try Self.parsed(base, table: table).fragment }
        return try Self.requestURL(url)
    }

    private func parsed(
        against base: URL?, table: InternationalName.Table = .system
    ) throws(URLSyntax.Fault) -> ParsedURL {
        guard bytes.count <= Self.maximumLength else {
            throw URLSyntax.Fault(
                description: "the URL has \(bytes.count) bytes; the maximum is \(Self.maximumLength)")
        }
        var parsedBase: ParsedURL?
        if let base { parsedBase = try Self.parsed(base, table: table) }
        return try URLParser.parse(bytes, base: parsedBase, table: table)
    }

    private static func parsed(_ base: URL, table: InternationalName.Table) throws(URLSyntax.Fault) -> ParsedURL {
        try URLParser.parse(base.absoluteString.utf8, base: nil, table: table, keepsHost: true)
    }

    private static func requestURL(_ parsed: ParsedURL) throws(URLSyntax.Fault) -> URL {
        var parsed = parsed
        (parsed.user, parsed.password) = ([], [])
        guard parsed.scheme == "http" || parsed.scheme == "https" else {
            throw URLSyntax.otherScheme(parsed.scheme)
        }
        try URLSyntax.check(parsed.text)
        return try url(parsed)
    }

    private static func url(_ parsed: ParsedURL) throws(URLSyntax.Fault) -> URL {
        guard let url = URL(string: parsed.text, encodingInvalidCharacters: false) else {
            throw URLSyntax.Fault(description: "the host has a character that isn't allowed in host names")
        }
        return url
    }
}

extension URLReference: CustomStringConvertible {
    /// The quoted reference with query values masked.
    public var description: String { URLSyntax.quoted(String(decoding: bytes, as: UTF8.self)) }
}

/// The parts of a URL (WHATWG URL, section 4.1), percent-encoded so that each is also valid in RFC 3986.
struct ParsedURL {
    /// The scheme in lowercase, without the colon.
    var scheme = ""
    var user: [UInt8] = []
    var password: [UInt8] = []
    /// The host. Nil without an authority. An IPv6 address includes its brackets.
    var host: [UInt8]?
    var port: UInt16?
    /// The path's segments, each after a slash, or the text of an opaque path.
    var path: [UInt8] = []
    /// Whether the path has no segments, as in `mailto:a@example.com`.
    var isOpaque = false
    var query: [UInt8]?
    var fragment: [UInt8]?

    /// Whether the scheme is special: a backslash counts as a slash, and the path isn't empty.
    var isSpecial: Bool { scheme == "file" || defaultPort != nil }

    var defaultPort: UInt16? {
        switch scheme {
        case "http", "ws": 80
        case "https", "wss": 443
        case "ftp": 21
        default: nil
        }
    }

    /// Removes the path's last segment, but keeps a file's drive letter.
    mutating func shortenPath() {
        if scheme == "file", path.count == 3, ParsedURL.startsWithDrive(path) { return }
        path.removeSubrange((path.lastIndex(of: UInt8(ascii: "/")) ?? path.endIndex)...)
    }

    static func startsWithDrive(_ path: [UInt8]) -> Bool {
        path.count >= 3 && ASCII.isLetter(path[1]) && path[2] == UInt8(ascii: ":")
            && (path.count == 3 || path[3] == UInt8(ascii: "/"))
    }

    /// The serialized URL (section 4.5).
    var text: String {
        var bytes = Array(scheme.utf8)
        bytes.append(UInt8(ascii: ":"))
        if let host {
            bytes += "//".utf8
            if !user.isEmpty || !password.isEmpty {
                bytes += user
                if !password.isEmpty { bytes += [UInt8(ascii: ":")] + password }
                bytes.append(UInt8(ascii: "@"))
            }
            bytes += host
            if let port { bytes += ":\(port)".utf8 }
        } else if !isOpaque, path.starts(with: "//".utf8) {
            // Add a dot segment. Without it, the path would be read as an authority.
            bytes += "/.".utf8
        }
        bytes += path
        if let query { bytes += [UInt8(ascii: "?")] + query }
        if let fragment { bytes += [UInt8(ascii: "#")] + fragment }
        return String(decoding: bytes, as: UTF8.self)
    }
}
