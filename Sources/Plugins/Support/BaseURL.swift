#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A base URL, split where paths are joined to it.
package struct BaseURL: Sendable {
    /// "https://example.com:8443"
    let origin: String
    /// "/v1/", always with a slash at its end (Y54).
    let directory: String

    /// Throws for anything but an absolute http or https URL; its query and fragment count for nothing.
    package init(_ base: String) throws {
        let text = base.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let base = String(text) ?? ""
        if base.isEmpty { throw URLSyntax.Fault(description: "there is no base URL for a relative path") }
        let end = base.utf8.index(base.startIndex, offsetBy: try URLSyntax.check(base))
        origin = String(base[..<end])
        directory = base.hasSuffix("/") && end < base.endIndex ? String(base[end...]) : base[end...] + "/"
    }

    /// The absolute URL of a path (RFC 3986, section 5): one with a scheme and a host stands for itself (Y51), one with
    /// a leading slash starts at the origin, any other is appended to the base.
    package static func join(_ base: () throws -> BaseURL, _ path: String, query: String) throws -> URL {
        var text: String
        if URLSyntax.isAbsolute(path) {
            let end = try URLSyntax.check(path)
            text = end == path.utf8.count ? path + "/" : path
        } else {
            let base = try base()
            if path.hasPrefix("//") {
                throw URLSyntax.Fault(description: "a path that starts with // would name another host")
            }
            try URLSyntax.checkRest(path)
            text = path.hasPrefix("/") ? base.origin + path : base.origin + base.directory + path
        }
        if !query.isEmpty { text = appending(query, to: text) }
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw URLSyntax.Fault(description: "this is no URL")
        }
        // Resolved as a browser would, so that nothing below sees another path than the filters do.
        return URLSyntax.mayHaveDotSegments(text) ? url.standardized : url
    }

    /// Before a fragment, after a query that is there already.
    private static func appending(_ query: String, to text: String) -> String {
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let mark = text.utf8[..<end].firstIndex(of: UInt8(ascii: "?"))
        // A second question mark is a part of the query like any other character.
        let isOpen = mark.map { text.utf8.index(after: $0) } == end || text[..<end].hasSuffix("&")
        return text[..<end] + (mark == nil ? "?" : isOpen ? "" : "&") + query + text[end...]
    }
}
