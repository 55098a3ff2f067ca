public import Errand
public import ErrandEssentials

/// Changes the URL of requests; for a closure instead of a type see `.closure`.
///
/// ```swift
/// struct Shard: URLFilter {
///     func filter(_ url: URL, for exchange: Exchange) async throws -> URL { url.appending(path: "shard-7") }
/// }
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.urls(Shard(), .query(["v": "3"]))])
/// ```
///
/// Runs once for each call, in the order of the list, on the URL that the previous filter returned, off the caller's actor.
/// Implement ``URLTextFilter`` instead to add to a URL or to remove from it: it cannot encode twice, and is faster.
public protocol URLFilter: Sendable, CustomStringConvertible, CustomReflectable {
    /// The name in errors and exemptions; the name of the type by default.
    var name: String { get }
    /// Whether the key of a cache contains the change: true for a change that affects the response, such as a version,
    /// false for any other, such as a token. True by default.
    var isInCacheKey: Bool { get }
    /// Whether query items that it leaves out of the key tell users apart, such as a token; caches then keep users
    /// apart by the items. False, the default, for others, such as a time.
    var marksUser: Bool { get }
    /// Returns the new URL: absolute, http or https, not http in place of https, without credentials; others throw
    /// ``URLFilterError``. `exchange` is the one that the whole list received. Once the URL of the cache's key differs, it
    /// is called twice if ``isInCacheKey`` is true: once for each URL.
    func filter(_ url: URL, for exchange: Exchange) async throws -> URL
}

extension URLFilter {
    /// The name of the type.
    public var name: String { "\(Self.self)" }
    /// True.
    public var isInCacheKey: Bool { true }
    /// False.
    public var marksUser: Bool { false }
    /// The name only, since filters may contain secrets.
    public var description: String { name }
    /// No children, for the same reason.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A URL filter that edits the text of the URL in place; all filters of this module are of this kind.
///
/// ```swift
/// struct Tenant: URLTextFilter {
///     let tenant: String
///     func edit(_ url: inout URLText, for exchange: Exchange) async throws {
///         try url.prefixPath("/tenants/\(segment: tenant)")
///     }
/// }
/// ```
public protocol URLTextFilter: URLFilter {
    /// Edits the URL. Runs once for each call; if the URL of the cache's key differs, each edit applies to both.
    func edit(_ url: inout URLText, for exchange: Exchange) async throws
}

extension URLTextFilter {
    /// Edits a single URL.
    public func filter(_ url: URL, for exchange: Exchange) async throws -> URL {
        var text = URLText(url)
        text.filter = name
        try await edit(&text, for: exchange)
        return try text.url()
    }
}
