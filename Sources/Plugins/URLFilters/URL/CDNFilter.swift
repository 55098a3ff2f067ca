public import Errand

/// Sends requests that it chooses to another origin; made by `.cdn`.
///
/// ```swift
/// .cdn("https://cdn.example.com") { $0.http.url.path.hasSuffix(".png") }
/// ```
///
/// The request's headers go there too: do not choose requests that carry credentials which the other origin must not
/// see. A request can also choose for itself, with `base: .cdn` and the agent's `cdnURL`.
public struct CDNFilter: URLTextFilter {
    /// What errors and exemptions call it.
    public let name: String
    /// Whether a cache's key sees it.
    public let isInCacheKey: Bool
    private let base: String
    private let chooses: @Sendable (Exchange) -> Bool

    /// - Parameters:
    ///   - base: an origin; a path in it goes before the request's own. With a query or a fragment requests throw
    ///     ``URLFilterError/Code/invalidURL``.
    ///   - inCacheKey: false by default: which server answers makes no other answer.
    public init(
        _ base: String, inCacheKey: Bool = false, name: String = "cdn",
        where chooses: @escaping @Sendable (Exchange) -> Bool
    ) { (self.base, isInCacheKey, self.name, self.chooses) = (base, inCacheKey, name, chooses) }

    /// Changes the origin of those that are chosen.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        guard chooses(exchange) else { return }
        try URLText.checkWithoutQuery(base, filter: name)
        try url.setOrigin(base)
    }
}

extension URLFilter where Self == CDNFilter {
    /// Sends requests that a closure chooses to another origin; GET and HEAD, all of them, by default.
    public static func cdn(
        _ base: String, inCacheKey: Bool = false, name: String = "cdn",
        where chooses: @escaping @Sendable (Exchange) -> Bool = { $0.http.method == .get || $0.http.method == .head }
    ) -> CDNFilter { CDNFilter(base, inCacheKey: inCacheKey, name: name, where: chooses) }
}
