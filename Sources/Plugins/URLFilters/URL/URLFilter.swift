public import Errand
public import ErrandEssentials

/// Changes the URL of requests. To use a closure instead of a type, see `.closure`.
///
/// ```swift
/// struct Shard: URLFilter {
///     func filter(_ url: URL, for exchange: Exchange) async throws -> URL { url.appending(path: "shard-7") }
/// }
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.urls(Shard(), .query(["v": "3"]))])
/// ```
///
/// URL filters run in the order of the list, off the caller's actor. Each filter receives the URL that the previous
/// filter returned.
///
/// To add parts to a URL or to remove parts, implement ``URLTextFilter`` instead. Editing the text is faster and can't
/// encode parts twice.
public protocol URLFilter: Sendable, CustomStringConvertible, CustomReflectable {
    /// The filter's name in errors and exemptions. Defaults to the name of the type.
    var name: String { get }
    /// Whether cache keys contain the filter's change. Return `true` if the change affects the response, such as an API
    /// version. Return `false` for other changes, such as a token. Defaults to `true`.
    var isInCacheKey: Bool { get }
    /// Whether the filter adds query items that identify a user, such as a token, and keeps these items out of cache
    /// keys. If `true`, caches separate users by these items. Defaults to `false`.
    var marksUser: Bool { get }
    /// Returns the new URL for a request.
    ///
    /// The new URL must be absolute, http or https, and free of credentials, and must not turn https into http.
    /// Otherwise the request throws ``URLFilterError``. If the cache key has a different URL and ``isInCacheKey`` is
    /// `true`, this method is called for both URLs. `exchange` is the exchange before any filter of the list changed
    /// its URL.
    func filter(_ url: URL, for exchange: Exchange) async throws -> URL
}

extension URLFilter {
    /// Returns the name of the type.
    public var name: String { "\(Self.self)" }
    /// Returns `true`.
    public var isInCacheKey: Bool { true }
    /// Returns `false`.
    public var marksUser: Bool { false }
    /// The filter's name.
    public var description: String { name }
    /// A mirror without children, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A URL filter that edits the URL's text in place.
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
    /// Edits the URL. If the cache key has a different URL, each edit also applies to that URL.
    func edit(_ url: inout URLText, for exchange: Exchange) async throws
}

extension URLTextFilter {
    /// Edits the URL's text.
    public func filter(_ url: URL, for exchange: Exchange) async throws -> URL {
        var text = URLText(url)
        text.filter = name
        try await edit(&text, for: exchange)
        return try text.url()
    }
}

/// Replaces the URL with a closure's result. Create it with `.closure`.
public struct ClosureURLFilter: URLFilter {
    /// The filter's name in errors and exemptions.
    public let name: String
    /// Whether cache keys contain the changed URL.
    public let isInCacheKey: Bool
    private let body: @Sendable (URL, Exchange) async throws -> URL

    /// Creates a filter from a closure that returns the new URL.
    public init(
        _ name: String, inCacheKey: Bool = true, _ body: @escaping @Sendable (URL, Exchange) async throws -> URL
    ) { (self.name, isInCacheKey, self.body) = (name, inCacheKey, body) }

    /// Returns the closure's result.
    public func filter(_ url: URL, for exchange: Exchange) async throws -> URL { try await body(url, exchange) }
}

/// Edits the URL with a closure. Create it with `.edit`.
public struct ClosureURLTextFilter: URLTextFilter {
    /// The filter's name in errors and exemptions.
    public let name: String
    /// Whether cache keys contain the changed URL.
    public let isInCacheKey: Bool
    private let body: @Sendable (inout URLText, Exchange) async throws -> Void

    /// Creates a filter from a closure that edits the URL's text.
    public init(
        _ name: String, inCacheKey: Bool = true,
        _ body: @escaping @Sendable (inout URLText, Exchange) async throws -> Void
    ) { (self.name, isInCacheKey, self.body) = (name, inCacheKey, body) }

    /// Edits the URL with the closure.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws { try await body(&url, exchange) }
}

extension URLFilter where Self == ClosureURLFilter {
    /// Replaces the URL with a closure's result: `.closure("shard") { url, exchange in … }`.
    public static func closure(
        _ name: String, inCacheKey: Bool = true, _ body: @escaping @Sendable (URL, Exchange) async throws -> URL
    ) -> ClosureURLFilter { ClosureURLFilter(name, inCacheKey: inCacheKey, body) }
}

extension URLFilter where Self == ClosureURLTextFilter {
    /// Edits the URL with a closure: `.edit("tenant") { url, exchange in try url.append(["tenant": "7"]) }`.
    public static func edit(
        _ name: String, inCacheKey: Bool = true,
        _ body: @escaping @Sendable (inout URLText, Exchange) async throws -> Void
    ) -> ClosureURLTextFilter { ClosureURLTextFilter(name, inCacheKey: inCacheKey, body) }
}
