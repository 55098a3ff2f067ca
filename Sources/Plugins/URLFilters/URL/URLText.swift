public import Errand
public import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

/// The percent-encoded text of a request's URL, edited in place.
///
/// ```swift
/// try address.append(["q": "swift & more"])       // …?q=swift%20%26%20more
/// try address.prefixPath("/api/v2")
/// address.removeQuery { $0.hasPrefix("utm_") }
/// ```
///
/// Nothing is decoded and encoded again, so that the existing text is not changed: escapes, order, repeated names, empty
/// values. If the URL of the cache's key differs, and the key contains the filter's change, each edit applies to both.
public struct URLText: Sendable {
    /// The URL as it is sent. May contain secrets; `description` masks them.
    public internal(set) var text: String
    /// The URL of the cache's key, if it differs.
    var keyText: String?
    private(set) var isChanged = false
    /// The name of the running filter, for errors.
    var filter = ""
    /// Whether the cache's key does not contain the changes of the running filter.
    var isHidden = false

    /// Makes the text of an absolute URL.
    public init(_ url: URL) { text = url.absoluteString }

    init(_ url: URL, key: URL?) {
        text = url.absoluteString
        keyText = key?.absoluteString
    }

    /// The current URL. Throws ``URLFilterError/Code/invalidURL`` if the text is not a valid URL.
    public func url() throws -> URL { try url(of: text) }

    /// The URL of the cache's key, if it differs.
    func keyURL() throws -> URL? { try keyText.map(url(of:)) }

    private func url(of text: String) throws -> URL {
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw error(.invalidURL, "it made a URL that cannot be read")
        }
        // Dot segments are removed as when the agent builds a request, so that later steps use the same path.
        return URLSyntax.mayHaveDotSegments(text) ? url.standardized : url
    }

    /// Applies an edit to the text, and to the URL of the cache's key if the key contains it.
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
    /// The URL without its fragment, with the values that `Redaction` masks by default.
    public var description: String {
        var redactor = Redactor()
        return redactor.url(text)
    }
    /// No children, since the text may contain secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The offsets of the parts of a URL's text, in UTF-8 bytes.
struct URLLayout {
    /// Where the authority ends and the path starts; nil if there is no scheme.
    var pathStart: Int?
    /// The offset of the question mark; without a query, the end of the path.
    var queryStart: Int
    var hasQuery: Bool
    /// The offset of the fragment's `#`; without a fragment, the end of the text.
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
    /// The text between two UTF-8 offsets.
    subscript(offsets range: Range<Int>) -> Substring {
        self[utf8.index(startIndex, offsetBy: range.lowerBound)..<utf8.index(startIndex, offsetBy: range.upperBound)]
    }

    /// Replaces the text between two UTF-8 offsets.
    mutating func replace(offsets range: Range<Int>, with text: some Collection<Character>) {
        let start = utf8.index(startIndex, offsetBy: range.lowerBound)
        replaceSubrange(start..<utf8.index(startIndex, offsetBy: range.upperBound), with: text)
    }
}

extension URLText {
    /// The path, percent-encoded; `/` if it is empty.
    public var path: String {
        let layout = URLLayout(text)
        let path = layout.pathStart.map { text[offsets: $0..<layout.queryStart] } ?? ""
        return path.isEmpty ? "/" : String(path)
    }

    /// Replaces the path; query and fragment stay. The path has to be percent-encoded, as `"users/\(segment: name)"` is.
    /// Throws ``URLFilterError/Code/invalidURL`` for what cannot be a path.
    public mutating func setPath(_ path: String) throws {
        let path = try checked(path)
        try changePath { _ in path }
    }

    /// Adds a prefix to the path, with one slash between them. Throws as ``setPath(_:)``.
    public mutating func prefixPath(_ prefix: String) throws {
        try prefixPath(checked: try Self.normalized(prefix: checked(prefix)))
    }

    /// Adds a prefix that has been validated.
    mutating func prefixPath(checked prefix: String) throws {
        if prefix.isEmpty { return }
        try changePath { path in prefix + path }
    }

    /// Replaces the beginning of the path in whole segments, so that `/v1` does not match `/v10`. Other paths stay. Throws
    /// as ``setPath(_:)``.
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

    /// Replaces scheme, host and port: `https://cdn.example.com`. A path in the origin precedes the URL's path, a query in
    /// it is ignored. Throws ``URLFilterError``: `relativeURL`, `schemeChanged`, `credentialsInURL` or `invalidURL`.
    public mutating func setOrigin(_ origin: String) throws {
        try check(origin)
        let layout = URLLayout(origin)
        let end = layout.pathStart ?? origin.utf8.count
        let directory = Self.normalized(prefix: String(origin[offsets: end..<layout.queryStart]))
        let error = error(.relativeURL, "the URL is not absolute")
        try change { text in
            guard let start = URLLayout(text).pathStart else { throw error }
            text.replace(offsets: 0..<start, with: origin[offsets: 0..<end] + directory)
        }
    }

    /// Replaces the URL. Throws ``URLFilterError`` unless it is absolute, http or https, not
    /// http for https, and without credentials.
    public mutating func replace(with url: URL) throws {
        let new = url.absoluteString
        if let scheme = url.scheme?.lowercased(), scheme != "http", scheme != "https" {
            throw error(.schemeChanged, "it returned a URL whose scheme is not http or https")
        }
        try check(new)
        change { $0 = new }
    }

    /// Replaces the URL and the URL of the cache's key.
    func replacing(with new: URL, key: URL) throws -> URLText {
        var (result, keyed) = (self, self)
        result.keyText = nil
        try result.replace(with: new)
        (keyed.text, keyed.keyText) = (keyText ?? text, nil)
        try keyed.replace(with: key)
        result.keyText = keyed.text
        return result
    }

    /// Throws if the URL must not be replaced with this one.
    private func check(_ new: String) throws {
        guard URLSyntax.isAbsolute(new) else { throw error(.relativeURL, "it returned a URL without scheme and host") }
        if Self.scheme(of: text) == "https", Self.scheme(of: new) == "http" {
            throw error(.schemeChanged, "it turned https into http")
        }
        let layout = URLLayout(new)
        if new[offsets: 0..<(layout.pathStart ?? layout.queryStart)].utf8.contains(UInt8(ascii: "@")) {
            throw error(.credentialsInURL, "it returned a URL with credentials in it")
        }
        do { try URLSyntax.check(new) } catch {
            let isScheme = !["http", "https"].contains(Self.scheme(of: new))
            throw self.error(isScheme ? .schemeChanged : .invalidURL, error.description)
        }
    }

    /// Throws unless the base is a valid http or https URL.
    func checkBase(_ base: String) throws {
        do { try URLSyntax.check(base) } catch { throw self.error(.invalidURL, error.description) }
        try Self.checkWithoutQuery(base, filter: filter)
    }

    /// Throws for a base with a query or a fragment, which appended paths would lose.
    static func checkWithoutQuery(_ base: String, filter: String) throws {
        if base.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) {
            throw URLFilterError(.invalidURL, filter: filter, "a base URL has a query or a fragment")
        }
    }

    private static func scheme(of text: String) -> String { text.prefix { $0 != ":" }.lowercased() }

    private mutating func changePath(_ path: (Substring) -> String) throws {
        let error = error(.relativeURL, "the URL is not absolute")
        try change { text in
            let layout = URLLayout(text)
            guard let start = layout.pathStart else { throw error }
            let old = text[offsets: start..<layout.queryStart]
            text.replace(offsets: start..<layout.queryStart, with: path(old.isEmpty ? "/" : old))
        }
    }

    private func checked(_ path: String) throws -> String { try Self.checked(path: path, filter: filter) }

    /// A valid path with a leading slash; throws for text that cannot be a path.
    static func checked(path: String, filter: String) throws -> String {
        do throws(URLSyntax.Fault) {
            let path = try PathSegment.resolve(path)
            try URLSyntax.checkRest(path) { ASCII.isPathOrQuery($0) && $0 != UInt8(ascii: "?") }
            return path.hasPrefix("/") ? path : "/" + path
        } catch {
            throw URLFilterError(.invalidURL, filter: filter, error.description)
        }
    }

    /// The prefix without trailing slashes.
    static func normalized(prefix: String) -> String {
        String(prefix.reversed().drop { $0 == "/" }.reversed())
    }
}

extension URLText {
    /// The items of the query in order, decoded as servers decode them: `+` and `%20` are a space. The value is nil for a
    /// name without `=`.
    public var queryItems: [(name: String, value: String?)] {
        QueryItem.split(query, keepingEmpty: true).map { ($0.name, $0.value) }
    }

    /// The text of the query without its question mark.
    var query: Substring {
        let layout = URLLayout(text)
        return layout.hasQuery ? text[offsets: (layout.queryStart + 1)..<layout.end] : ""
    }

    /// The items of the query, as they are written, that another query has not; nil if there are none.
    func items(besides other: Substring) -> String? {
        let known = Set(other.split(separator: "&"))
        let added = query.split(separator: "&").filter { !known.contains($0) }
        return added.isEmpty ? nil : added.joined(separator: "&")
    }

    /// Removes items, as they are written, each once.
    mutating func removeItems(_ items: [Substring]) {
        change { text in
            let layout = URLLayout(text)
            guard layout.hasQuery else { return }
            var left = text[offsets: (layout.queryStart + 1)..<layout.end]
                .split(separator: "&", omittingEmptySubsequences: false)
            for item in items {
                if let index = left.lastIndex(of: item) { left.remove(at: index) }
            }
            let query = left.isEmpty ? "" : "?" + left.joined(separator: "&")
            text.replace(offsets: layout.queryStart..<layout.end, with: query)
        }
    }

    /// Appends items to the query. Throws ``URLFilterError/Code/invalidParameters`` for items that cannot be encoded.
    public mutating func append(_ parameters: Parameters, encoding: ParameterEncoding = ParameterEncoding()) throws {
        try merge(parameters, by: .append, encoding: encoding)
    }

    /// Adds items to the query, by a rule for names that it has already. Throws ``URLFilterError/Code/invalidParameters`` for
    /// items that cannot be encoded.
    public mutating func merge(
        _ parameters: Parameters, by rule: MergeRule, encoding: ParameterEncoding = ParameterEncoding()
    ) throws {
        merge(query: try QueryText.encode(parameters, encoding, filter: filter), by: rule)
    }

    /// Adds items that are encoded already.
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

    /// The separator between the existing query and a new item.
    private static func separator(_ text: String, _ layout: URLLayout) -> String {
        guard layout.hasQuery else { return "?" }
        if layout.end == layout.queryStart + 1 { return "" }
        let last = text.utf8[text.utf8.index(text.startIndex, offsetBy: layout.end - 1)]
        return last == UInt8(ascii: "&") ? "" : "&"
    }

    /// Removes the items whose decoded name matches. The question mark of a query that becomes empty is removed too.
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
