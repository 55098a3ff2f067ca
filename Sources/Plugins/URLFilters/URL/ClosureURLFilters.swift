public import Errand
public import ErrandEssentials

/// A URL filter with a closure that returns another URL; made by `.closure`.
public struct ClosureURLFilter: URLFilter {
    /// The name in errors and exemptions.
    public let name: String
    /// Whether the key of a cache contains the change.
    public let isInCacheKey: Bool
    private let body: @Sendable (URL, Exchange) async throws -> URL

    /// Makes a filter of a closure that returns another URL.
    public init(
        _ name: String, inCacheKey: Bool = true, _ body: @escaping @Sendable (URL, Exchange) async throws -> URL
    ) { (self.name, isInCacheKey, self.body) = (name, inCacheKey, body) }

    /// Calls the closure.
    public func filter(_ url: URL, for exchange: Exchange) async throws -> URL { try await body(url, exchange) }
}

/// A URL filter with a closure that edits the URL; made by `.edit`.
public struct ClosureURLTextFilter: URLTextFilter {
    /// The name in errors and exemptions.
    public let name: String
    /// Whether the key of a cache contains the change.
    public let isInCacheKey: Bool
    private let body: @Sendable (inout URLText, Exchange) async throws -> Void

    /// Makes a filter of a closure that edits the URL's text.
    public init(
        _ name: String, inCacheKey: Bool = true,
        _ body: @escaping @Sendable (inout URLText, Exchange) async throws -> Void
    ) { (self.name, isInCacheKey, self.body) = (name, inCacheKey, body) }

    /// Calls the closure.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws { try await body(&url, exchange) }
}

extension URLFilter where Self == ClosureURLFilter {
    /// `.closure("shard") { url, exchange in … }` returns another URL.
    public static func closure(
        _ name: String, inCacheKey: Bool = true, _ body: @escaping @Sendable (URL, Exchange) async throws -> URL
    ) -> ClosureURLFilter { ClosureURLFilter(name, inCacheKey: inCacheKey, body) }
}

extension URLFilter where Self == ClosureURLTextFilter {
    /// `.edit("tenant") { url, exchange in try url.append(["tenant": "7"]) }` edits in place.
    public static func edit(
        _ name: String, inCacheKey: Bool = true,
        _ body: @escaping @Sendable (inout URLText, Exchange) async throws -> Void
    ) -> ClosureURLTextFilter { ClosureURLTextFilter(name, inCacheKey: inCacheKey, body) }
}
