public import Errand

public import ErrandEssentials

/// Makes the URL of a request another one; a closure does it too, see `.closure`.
///
/// ```swift
/// struct Shard: URLFilter {
///     func filter(_ url: URL, for exchange: Exchange) async throws -> URL { url.appending(path: "shard-7") }
/// }
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.urls(Shard(), .query(["v": "3"]))])
/// ```
///
/// Runs once a call, in the order given, each on what the one before it returned, off the caller's actor. One that only
/// adds to a URL or takes from it is better a ``URLTextFilter``: it cannot encode twice, and costs less.
public protocol URLFilter: Sendable, CustomStringConvertible, CustomReflectable {
    /// What errors and exemptions call it; the type's name by default.
    var name: String { get }
    /// Whether a cache's key sees what it does: true for what makes another answer, such as a version, false for what
    /// does not, such as a token. True by default.
    var isInCacheKey: Bool { get }
    /// The URL to go on with: absolute, http or https, never http for https, without credentials; anything else throws
    /// ``URLFilterError``. `exchange` is as the whole list got it. After a filter that the cache's key does not see, one
    /// that it does is asked twice, once for each URL.
    func filter(_ url: URL, for exchange: Exchange) async throws -> URL
}

extension URLFilter {
    /// The type's name.
    public var name: String { "\(Self.self)" }
    /// True.
    public var isInCacheKey: Bool { true }
    /// The name alone: what a filter holds may be secret.
    public var description: String { name }
    /// Nothing, for the same reason.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A URL filter that edits the text of the URL in place; the ready ones are all of this kind.
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
    /// Runs once a call: where the cache's key is another URL, each edit is made to both.
    func edit(_ url: inout URLText, for exchange: Exchange) async throws
}

extension URLTextFilter {
    /// One edit of a URL.
    public func filter(_ url: URL, for exchange: Exchange) async throws -> URL {
        var text = URLText(url)
        text.filter = name
        try await edit(&text, for: exchange)
        return try text.url()
    }
}
