public import Errand

/// Sends selected requests to another origin; made by `.cdn`.
///
/// ```swift
/// .cdn("https://cdn.example.com") { $0.http.url.path.hasSuffix(".png") }
/// ```
///
/// The request's headers are sent to that origin too, but for its secrets: sensitive header fields go there only if the
/// agent trusts the origin, as its `cdnURL` or by `trustedOrigins`.
/// A request can also choose the CDN itself, with `base: .cdn` and the agent's `cdnURL`.
public struct CDNFilter: URLTextFilter {
    /// The name in errors and exemptions.
    public let name: String
    /// Whether the key of a cache contains the other origin.
    public let isInCacheKey: Bool
    private let base: String
    private let chooses: @Sendable (Exchange) -> Bool

    /// Makes the filter.
    ///
    /// - Parameters:
    ///   - base: an origin; a path in it precedes the request's own. With a query or a fragment requests throw
    ///     ``URLFilterError/Code/invalidURL``.
    ///   - inCacheKey: false by default: both servers return the same response.
    ///   - name: the name in errors and exemptions; `cdn` by default.
    ///   - chooses: whether a request goes to the other origin.
    public init(
        _ base: String, inCacheKey: Bool = false, name: String = "cdn",
        where chooses: @escaping @Sendable (Exchange) -> Bool
    ) { (self.base, isInCacheKey, self.name, self.chooses) = (base, inCacheKey, name, chooses) }

    /// Changes the origin of selected requests. Throws ``URLFilterError`` for a base that is not valid.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        guard chooses(exchange) else { return }
        try URLText.checkWithoutQuery(base, filter: name)
        try url.setOrigin(base)
    }
}

extension URLFilter where Self == CDNFilter {
    /// Sends the requests that a closure selects to another origin; all GET and HEAD requests by default.
    public static func cdn(
        _ base: String, inCacheKey: Bool = false, name: String = "cdn",
        where chooses: @escaping @Sendable (Exchange) -> Bool = { $0.http.method == .get || $0.http.method == .head }
    ) -> CDNFilter { CDNFilter(base, inCacheKey: inCacheKey, name: name, where: chooses) }
}
