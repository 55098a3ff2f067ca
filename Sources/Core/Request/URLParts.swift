import ErrandSupport

/// A base URL, split where paths are joined to it.
struct URLParts {
    /// "https://example.com:8443"
    let origin: String
    /// "/v1/", always with a slash at its end (Y54).
    let directory: String

    /// Throws `invalidURL` for anything but an absolute http or https URL; its query and fragment count for nothing.
    init(base: String) throws {
        let text = base.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let base = String(text) ?? ""
        if base.isEmpty { throw ErrandError(.invalidURL, "there is no base URL for a relative path") }
        let end = base.utf8.index(base.startIndex, offsetBy: try Self.checked { try URLSyntax.check(base) })
        origin = String(base[..<end])
        directory = base.hasSuffix("/") && end < base.endIndex ? String(base[end...]) : base[end...] + "/"
    }

    /// The absolute URL of a path (RFC 3986, section 5): one with a scheme and a host stands for itself (Y51), one with
    /// a leading slash starts at the origin, any other is appended to the base.
    static func join(_ base: () throws -> URLParts, _ path: String, query: String) throws -> URL {
        var text: String
        if URLSyntax.isAbsolute(path) {
            let end = try checked { try URLSyntax.check(path) }
            text = end == path.utf8.count ? path + "/" : path
        } else {
            let base = try base()
            if path.hasPrefix("//") {
                throw ErrandError(.invalidURL, "a path that starts with // would name another host")
            }
            try checked { try URLSyntax.checkRest(path) }
            text = path.hasPrefix("/") ? base.origin + path : base.origin + base.directory + path
        }
        if !query.isEmpty { text = appending(query, to: text) }
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw ErrandError(.invalidURL, "this is no URL")
        }
        // Resolved as a browser would, so that nothing below sees another path than the filters do.
        return URLSyntax.mayHaveDotSegments(text) ? url.standardized : url
    }

    /// Throws `invalidURL` unless the URL is absolute, http or https, with a host and without credentials.
    static func validate(_ url: URL) throws { _ = try checked { try URLSyntax.check(url.absoluteString) } }

    /// "https://example.com:443" in one form for every way of writing it; two URLs with the same have the same origin.
    static func origin(of url: URL) -> String {
        let scheme = url.scheme?.lowercased() ?? ""
        return "\(scheme)://\(url.host?.lowercased() ?? ""):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }

    /// Before a fragment, after a query that is there already.
    private static func appending(_ query: String, to text: String) -> String {
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let mark = text.utf8[..<end].firstIndex(of: UInt8(ascii: "?"))
        // A second question mark is a part of the query like any other character.
        let isOpen = mark.map { text.utf8.index(after: $0) } == end || text[..<end].hasSuffix("&")
        return text[..<end] + (mark == nil ? "?" : isOpen ? "" : "&") + query + text[end...]
    }

    private static func checked<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let fault as URLSyntax.Fault {
            throw ErrandError(.invalidURL, fault.description)
        }
    }
}

extension DefaultStringInterpolation {
    /// Inserts text as one segment of a path, percent-encoded: `"users/\(segment: name)/posts"`.
    public mutating func appendInterpolation(segment: String) {
        var text = ""
        ASCII.percentEncode(segment, into: &text, allowed: ASCII.isUnreserved)
        appendInterpolation(text)
    }
}
