public import ErrandEssentials
import ErrandMessageSyntax

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
