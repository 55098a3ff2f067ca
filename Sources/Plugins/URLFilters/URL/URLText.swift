public import Errand
public import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

/// The percent-encoded text of a request's URL, to edit in place.
///
/// ```swift
/// try address.append(["q": "swift & more"])       // …?q=swift%20%26%20more
/// try address.prefixPath("/api/v2")
/// address.removeQuery { $0.hasPrefix("utm_") }
/// ```
///
/// Edits never decode and re-encode the existing text, so it keeps its escapes, order, repeated names and empty values.
/// The cache key can have a different URL. If it contains the filter's change, each edit also applies to the cache
/// key's URL.
public struct URLText: Sendable {
    /// The URL to send. It may contain secrets, which `description` masks.
    public internal(set) var text: String
    /// The cache key's URL, if it differs.
    var keyText: String?
    private(set) var isChanged = false
    var filter = ""
    /// Cache keys leave out the running filter's changes.
    var isHidden = false

    /// Creates the text of an absolute URL.
    public init(_ url: URL) { text = url.absoluteString }

    init(_ url: URL, key: URL?) {
        text = url.absoluteString
        keyText = key?.absoluteString
    }

    /// Returns the current URL. Throws ``URLFilterError/Code/invalidURL`` if the text isn't a valid URL.
    public func url() throws -> URL { try url(of: text) }

    func keyURL() throws -> URL? { try keyText.map(url(of:)) }

    private func url(of text: String) throws -> URL {
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw error(.invalidURL, "it created an invalid URL")
        }
        // Removes dot segments as the agent does, so later filters use the same path.
        return URLSyntax.mayHaveDotSegments(text) ? url.standardized : url
    }

    mutating func change(_ edit: (inout String) throws -> Void) rethrows {
        if isHidden {
            keyText = keyText ?? text
        } else if var key = keyText {
            try edit(&key)
            keyText = key
        }
        try edit(&text)
        isChanged = true
    }

    func error(_ code: URLFilterError.Code, _ message: String) -> URLFilterError {
        URLFilterError(code, filter: filter, message)
    }
}

extension URLText: CustomStringConvertible, CustomReflectable {
    /// The URL without its fragment, and with secret values masked by `Redaction`'s default rules.
    public var description: String {
        var redactor = Redactor()
        return redactor.url(text)
    }
    /// A mirror without children, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// UTF-8 offsets of a URL's parts.
struct URLLayout {
    var pathStart: Int?
    var queryStart: Int
    var hasQuery: Bool
    var end: Int

    init(_ text: String) { self = text.withSpan { URLLayout($0) } }

    private init(_ bytes: Span<UInt8>) {
        end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"), in: 0..<end)
        (queryStart, hasQuery) = (mark ?? end, mark != nil)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: 0..<queryStart),
            bytes.extracting(..<queryStart).contains(Array("//".utf8), at: colon + 1)
        else { return }
        pathStart = bytes.firstIndex(of: UInt8(ascii: "/"), in: (colon + 3)..<queryStart) ?? queryStart
    }
}

extension String {
    subscript(offsets range: Range<Int>) -> Substring {
        self[utf8.index(startIndex, offsetBy: range.lowerBound)..<utf8.index(startIndex, offsetBy: range.upperBound)]
    }

    mutating func replace(offsets range: Range<Int>, with text: some Collection<Character>) {
        let start = utf8.index(startIndex, offsetBy: range.lowerBound)
        replaceSubrange(start..<utf8.index(startIndex, offsetBy: range.upperBound), with: text)
    }
}

extension URLText {
    /// The percent-encoded path, or `/` if it is empty.
    public var path: String {
        let layout = URLLayout(text)
        let path = layout.pathStart.map { text[offsets: $0..<layout.queryStart] } ?? ""
        return path.isEmpty ? "/" : String(path)
    }

    /// Replaces the path and keeps the query and fragment. Percent-encode the path, as in `"users/\(segment: name)"`.
    /// Throws ``URLFilterError/Code/invalidURL`` if the text can't be a path.
    public mutating func setPath(_ path: String) throws {
        let path = try checked(path)
        try changePath { _ in path }
    }

    /// Adds a prefix to the path, with exactly one slash between the prefix and the path. Throws the same errors as
    /// ``setPath(_:)``.
    public mutating func prefixPath(_ prefix: String) throws {
        try prefixPath(checked: try Self.normalized(prefix: checked(prefix)))
    }

    mutating func prefixPath(checked prefix: String) throws {
        if prefix.isEmpty { return }
        try changePath { path in prefix + path }
    }

    /// Replaces the beginning of the path, in whole segments: `/v1` doesn't match `/v10`. Other paths don't change.
    /// Throws the same errors as ``setPath(_:)``.
    public mutating func replacePath(_ old: String, with new: String) throws {
        let old = Self.normalized(prefix: try checked(old))
        let new = Self.normalized(prefix: try checked(new))
        try changePath { path in
            guard path.hasPrefix(old) else { return String(path) }
            let rest = path.dropFirst(old.count)
            return rest.isEmpty || rest.hasPrefix("/") ? new + (new.isEmpty && rest.isEmpty ? "/" : rest) : String(path)
        }
    }

    /// Removes the fragment, which is never sent.
    public mutating func removeFragment() {
        if URLLayout(text).end == text.utf8.count { return }
        change { text in text = String(text[offsets: 0..<URLLayout(text).end]) }
    }

    /// Replaces the scheme, host and port with those of `origin`, such as `https://cdn.example.com`. If `origin` has a
    /// path, the path is put before the URL's path. A query in `origin` is ignored. Throws ``URLFilterError``:
    /// `relativeURL`, `schemeChanged`, `credentialsInURL` or `invalidURL`.
    public mutating func setOrigin(_ origin: String) throws {
        try check(origin)
        let layout = URLLayout(origin)
        let end = layout.pathStart ?? origin.utf8.count
        let directory = Self.normalized(prefix: String(origin[offsets: end..<layout.queryStart]))
        let error = error(.relativeURL, "the URL isn't absolute; expected a scheme such as https://")
        try change { text in
            guard let start = URLLayout(text).pathStart else { throw error }
            text.replace(offsets: 0..<start, with: origin[offsets: 0..<end] + directory)
        }
    }

    /// Replaces the whole URL. Throws ``URLFilterError`` unless the new URL is absolute, http or https, and free of
    /// credentials, and doesn't turn https into http.
    public mutating func replace(with url: URL) throws {
        let new = url.absoluteString
        if let scheme = url.scheme?.lowercased(), scheme != "http", scheme != "https" {
            throw error(.schemeChanged, "it returned a URL whose scheme is not http or https")
        }
        try check(new)
        change { $0 = new }
    }

    func replacing(with new: URL, key: URL) throws -> URLText {
        var (result, keyed) = (self, self)
        result.keyText = nil
        try result.replace(with: new)
        (keyed.text, keyed.keyText) = (keyText ?? text, nil)
        try keyed.replace(with: key)
        result.keyText = keyed.text
        return result
    }

    private func check(_ new: String) throws {
        guard URLSyntax.isAbsolute(new) else { throw error(.relativeURL, "it returned a URL without scheme and host") }
        if Self.scheme(of: text) == "https", Self.scheme(of: new) == "http" {
            throw error(.schemeChanged, "it turned https into http")
        }
        let layout = URLLayout(new)
        if new[offsets: 0..<(layout.pathStart ?? layout.queryStart)].utf8.contains(UInt8(ascii: "@")) {
            throw error(.credentialsInURL, "it returned a URL that contains credentials")
        }
        do { try URLSyntax.check(new) } catch {
            let isScheme = !["http", "https"].contains(Self.scheme(of: new))
            throw self.error(isScheme ? .schemeChanged : .invalidURL, error.description)
        }
    }

    func checkBase(_ base: String) throws {
        do { try URLSyntax.check(base) } catch { throw self.error(.invalidURL, error.description) }
        try Self.checkWithoutQuery(base, filter: filter)
    }

    /// Appending a path would lose a base URL's query or fragment.
    static func checkWithoutQuery(_ base: String, filter: String) throws {
        if base.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) {
            throw URLFilterError(.invalidURL, filter: filter, "a base URL can't have a query or a fragment")
        }
    }

    private static func scheme(of text: String) -> String { text.prefix { $0 != ":" }.lowercased() }

    private mutating func changePath(_ path: (Substring) -> String) throws {
        let error = error(.relativeURL, "the URL isn't absolute; expected a scheme such as https://")
        try change { text in
            let layout = URLLayout(text)
            guard let start = layout.pathStart else { throw error }
            let old = text[offsets: start..<layout.queryStart]
            text.replace(offsets: start..<layout.queryStart, with: path(old.isEmpty ? "/" : old))
        }
    }

    private func checked(_ path: String) throws -> String { try Self.checked(path: path, filter: filter) }

    static func checked(path: String, filter: String) throws -> String {
        do throws(URLSyntax.Fault) {
            let path = try PathSegment.resolve(path)
            try URLSyntax.checkRest(path) { ASCII.isPathOrQuery($0) && $0 != UInt8(ascii: "?") }
            return path.hasPrefix("/") ? path : "/" + path
        } catch {
            throw URLFilterError(.invalidURL, filter: filter, error.description)
        }
    }

    static func normalized(prefix: String) -> String {
        String(prefix.reversed().drop { $0 == "/" }.reversed())
    }
}

extension URLText {
    /// The query items in order, decoded as servers do: both `+` and `%20` are a space. The value is `nil` for a name
    /// without `=`.
    public var queryItems: [(name: String, value: String?)] {
        QueryItem.split(query, keepingEmpty: true).map { ($0.name, $0.value) }
    }

    var query: Substring {
        let layout = URLLayout(text)
        return layout.hasQuery ? text[offsets: (layout.queryStart + 1)..<layout.end] : ""
    }

    /// Returns the items, as written, that another query lacks, or `nil` if it contains all of them.
    func items(besides other: Substring) -> String? {
        let known = Set(other.split(separator: "&"))
        let added = query.split(separator: "&").filter { !known.contains($0) }
        return added.isEmpty ? nil : added.joined(separator: "&")
    }

    /// Appends items to the query. Throws ``URLFilterError/Code/invalidParameters`` if they can't be encoded.
    public mutating func append(_ parameters: Parameters, encoding: ParameterEncoding = ParameterEncoding()) throws {
        try merge(parameters, by: .append, encoding: encoding)
    }

    /// Adds items to the query. `rule` applies to names that the query already has. Throws
    /// ``URLFilterError/Code/invalidParameters`` if items can't be encoded.
    public mutating func merge(
        _ parameters: Parameters, by rule: MergeRule, encoding: ParameterEncoding = ParameterEncoding()
    ) throws {
        merge(query: try QueryText.encode(parameters, encoding, filter: filter), by: rule)
    }

    mutating func merge(query: String, by rule: MergeRule) {
        if query.isEmpty { return }
        change { text in
            let layout = URLLayout(text)
            if rule != .append, layout.hasQuery {
                let range = (layout.queryStart + 1)..<layout.end
                let merged = QueryText.merge(query, into: text[offsets: range], by: rule)
                return text.replace(offsets: range, with: merged)
            }
            if layout.end == text.utf8.count {
                text += Self.separator(text, layout)
                text += query
            } else {
                text.replace(offsets: layout.end..<layout.end, with: Self.separator(text, layout) + query)
            }
        }
    }

    private static func separator(_ text: String, _ layout: URLLayout) -> String {
        guard layout.hasQuery else { return "?" }
        if layout.end == layout.queryStart + 1 { return "" }
        let last = text.utf8[text.utf8.index(text.startIndex, offsetBy: layout.end - 1)]
        return last == UInt8(ascii: "&") ? "" : "&"
    }

    /// Removes the query items whose decoded name matches. If no items remain, also removes the question mark.
    public mutating func removeQuery(where matches: (_ name: String) -> Bool) {
        change { text in
            let layout = URLLayout(text)
            guard layout.hasQuery else { return }
            let range = (layout.queryStart + 1)..<layout.end
            let items = QueryItem.split(text[offsets: range], keepingEmpty: true)
            let kept = items.filter { !matches($0.name) }
            if kept.count == items.count { return }
            let start = kept.isEmpty ? layout.queryStart : range.lowerBound
            text.replace(offsets: start..<range.upperBound, with: kept.map(\.description).joined(separator: "&"))
        }
    }
}
