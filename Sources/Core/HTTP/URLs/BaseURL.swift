import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// A base URL, split at the position where paths are joined to it.
package final class BaseURL: Sendable {
    /// The scheme, host and port, such as "https://example.com:8443".
    let origin: String
    /// The path, with a trailing slash, such as "/v1/".
    package let directory: String
    private let text: String
    let url: URL
    /// The lowercase host, without the brackets of an IPv6 address.
    let host: String
    /// Whether no segment of the directory starts with a dot.
    private let isPlain: Bool

    /// The origin in the comparable form of ``URLSyntax/origin(of:)``.
    private let comparable: String?

    package init(_ base: String) throws {
        if base.isEmpty { throw URLSyntax.Fault(description: "there is no base URL") }
        let end = try URLSyntax.naming("the base URL", base) { () throws(URLSyntax.Fault) in
            let end = try URLSyntax.check(base)
            for (mark, part) in [("?", "a query, which belongs to the request"), ("#", "a fragment")]
            where base.contains(mark) {
                throw URLSyntax.Fault(description: "it has \(part)")
            }
            return base.utf8.index(base.startIndex, offsetBy: end)
        }
        origin = String(base[..<end])
        comparable = URL(string: origin).map(URLSyntax.origin(of:))
        directory = base.hasSuffix("/") && end < base.endIndex ? String(base[end...]) : base[end...] + "/"
        text = origin + directory
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw URLSyntax.Fault(description: "the base URL \(URLSyntax.quoted(base)): it isn't a valid URL")
        }
        host = URLSyntax.host(ofChecked: origin)
        (self.url, isPlain) = (url, !URLSyntax.mayHaveDotSegments(directory))
    }

    /// - Parameter origin: The URL's origin in its comparable form.
    package func isOrigin(_ origin: String) -> Bool { comparable == origin }

    /// Returns the URL for a path (RFC 3986, section 5). Appends the path to the origin if it starts with a slash, or
    /// else to the base.
    package static func join(_ base: () throws -> BaseURL, _ path: String, query: String) throws -> CheckedURL {
        if URLSyntax.isPlainPath(path), let base = try? base(), base.isPlain {
            var text = String(path.utf8.first == UInt8(ascii: "/") ? base.origin : base.text, followedBy: path)
            if !query.isEmpty { text = appending(query, to: text) }
            return CheckedURL(text, base: base)
        }
        // An absolute URL with the base's origin, such as a link that the server sent.
        if let base = try? base(), base.isOrigin(ofPlain: path) {
            return CheckedURL(query.isEmpty ? path : appending(query, to: path), base: base)
        }
        return CheckedURL(try joinParsed(base, path, query: query))
    }

    private func isOrigin(ofPlain text: String) -> Bool {
        let length = origin.utf8.count
        guard text.utf8.count > length else { return false }
        let isOrigin = text.withSpan { bytes in
            bytes[length] == UInt8(ascii: "/") && origin.withSpan { bytes.starts(with: $0) }
        }
        return isOrigin && URLSyntax.isPlainPath(text, from: length)
    }

    private static func joinParsed(_ base: () throws -> BaseURL, _ path: String, query: String) throws -> URL {
        let isAbsolute = URLSyntax.isAbsolute(path)
        var found: BaseURL?
        if !isAbsolute {
            do { found = try base() } catch let fault as URLSyntax.Fault {
                throw URLSyntax.Fault(
                    description: "the path \(URLSyntax.quoted(path)) can't be joined: \(fault.description)")
            }
        }
        let base = found
        return try URLSyntax.naming(isAbsolute ? "the URL" : "the path", path) { () throws(URLSyntax.Fault) in
            try join(base, try PathSegment.resolve(path), query: query)
        }
    }

    private static func join(_ base: BaseURL?, _ path: String, query: String) throws(URLSyntax.Fault) -> URL {
        var text: String
        if let base {
            if path.hasPrefix("//") {
                throw URLSyntax.Fault(description: "a path that starts with // would name another host")
            }
            try URLSyntax.checkRest(path)
            text = path.hasPrefix("/") ? base.origin + path : base.origin + base.directory + path
        } else {
            let end = try URLSyntax.check(path)
            text = end == path.utf8.count ? path + "/" : path
        }
        if !query.isEmpty { text = appending(query, to: text) }
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw URLSyntax.Fault(description: "it isn't a valid URL")
        }
        // Resolve dots like browsers do, so filters and the transport see the same path.
        return URLSyntax.mayHaveDotSegments(text) ? url.standardized : url
    }

    private static func appending(_ query: String, to text: String) -> String {
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let mark = text.utf8[..<end].firstIndex(of: UInt8(ascii: "?"))
        let isOpen = mark.map { text.utf8.index(after: $0) } == end || text[..<end].hasSuffix("&")
        return text[..<end] + (mark == nil ? "?" : isOpen ? "" : "&") + query + text[end...]
    }
}

extension String {
    /// Joins two texts. The `+` operator would reserve half as much memory again.
    fileprivate init(_ first: String, followedBy second: String) {
        self = first
        reserveCapacity(first.utf8.count + second.utf8.count)
        append(second)
    }
}

/// Selects the base URL that a request's path is appended to.
public struct RequestBaseURL: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case standard, named(String), url(String)
    }

    package let kind: Kind

    /// The agent's `baseURL`. The default.
    public static let standard = RequestBaseURL(kind: .standard)

    /// Selects one of the agent's `namedBaseURLs`. If the name is missing, the request fails.
    public static func named(_ name: String) -> RequestBaseURL { RequestBaseURL(kind: .named(name)) }

    /// Uses an absolute URL as the base, instead of one of the agent's.
    public static func url(_ text: String) -> RequestBaseURL { RequestBaseURL(kind: .url(text)) }

    package var isURL: Bool { if case .url = kind { true } else { false } }
}

extension DefaultStringInterpolation {
    /// Inserts text as one percent-encoded path segment: `"users/\(segment: name)/posts"`.
    ///
    /// The request throws ``ErrandError/Code/invalidURL`` and isn't sent if the segment is empty, or if `.` or `..` is
    /// a part of the segment between slashes or backslashes, encoded or not. Servers resolve these even if they're
    /// percent-encoded. Dots that you write into the path itself are resolved.
    public mutating func appendInterpolation(segment: String) {
        appendInterpolation(PathSegment.encode(segment))
    }
}
