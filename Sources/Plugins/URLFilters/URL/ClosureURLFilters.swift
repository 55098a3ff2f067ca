public import Errand
public import ErrandEssentials

/// A URL filter whose closure returns another URL. Create it with `.closure`.
public struct ClosureURLFilter: URLFilter {
    /// The filter's name.
    public let name: String
    /// Whether cache keys contain the change.
    public let isInCacheKey: Bool
    private let body: @Sendable (URL, Exchange) async throws -> URL

    /// Creates a filter from a closure that returns another URL.
    public init(
        _ name: String, inCacheKey: Bool = true, _ body: @escaping @Sendable (URL, Exchange) async throws -> URL
    ) { (self.name, isInCacheKey, self.body) = (name, inCacheKey, body) }

    /// Calls the closure.
    public func filter(_ url: URL, for exchange: Exchange) async throws -> URL { try await body(url, exchange) }
}

/// A URL filter whose closure edits the URL. Create it with `.edit`.
public struct ClosureURLTextFilter: URLTextFilter {
    /// The filter's name.
    public let name: String
    /// Whether cache keys contain the change.
    public let isInCacheKey: Bool
    private let body: @Sendable (inout URLText, Exchange) async throws -> Void

    /// Creates a filter from a closure that edits the URL's text.
    public init(
        _ name: String, inCacheKey: Bool = true,
        _ body: @escaping @Sendable (inout URLText, Exchange) async throws -> Void
    ) { (self.name, isInCacheKey, self.body) = (name, inCacheKey, body) }

    /// Calls the closure.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws { try await body(&url, exchange) }
}

extension URLFilter where Self == ClosureURLFilter {
    /// Returns another URL: `.closure("shard") { url, exchange in … }`.
    public static func closure(
        _ name: String, inCacheKey: Bool = true, _ body: @escaping @Sendable (URL, Exchange) async throws -> URL
    ) -> ClosureURLFilter { ClosureURLFilter(name, inCacheKey: inCacheKey, body) }
}

extension URLFilter where Self == ClosureURLTextFilter {
    /// Edits the URL in place: `.edit("tenant") { url, exchange in try url.append(["tenant": "7"]) }`.
    public static func edit(
        _ name: String, inCacheKey: Bool = true,
        _ body: @escaping @Sendable (inout URLText, Exchange) async throws -> Void
    ) -> ClosureURLTextFilter { ClosureURLTextFilter(name, inCacheKey: inCacheKey, body) }
}
