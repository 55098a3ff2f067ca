public import Errand

/// Sends selected requests to another origin, such as a CDN. Create it with `.cdn`.
///
/// ```swift
/// .cdn("https://cdn.example.com") { $0.http.url.path.hasSuffix(".png") }
/// ```
///
/// The other origin also receives the request's header fields. It receives sensitive fields only if it's the origin of
/// the agent's `cdnURL`, or if the agent's `trustedOrigins` contain it. A request can also choose the CDN itself, with
/// `base: .cdn`.
public struct CDNFilter: URLTextFilter {
    /// The filter's name in errors and exemptions.
    public let name: String
    /// Whether cache keys contain the other origin.
    public let isInCacheKey: Bool
    private let base: String
    private let chooses: @Sendable (Exchange) -> Bool

    /// Creates the filter.
    ///
    /// - Parameters:
    ///   - base: the other origin, optionally with a path to put before the request's path. If `base` has a query or
    ///     fragment, requests throw ``URLFilterError/Code/invalidURL``.
    ///   - inCacheKey: whether cache keys contain the other origin. Defaults to `false`, because both servers return
    ///     the same response.
    ///   - chooses: returns whether to send a request to the other origin.
    public init(
        _ base: String, inCacheKey: Bool = false, name: String = "cdn",
        where chooses: @escaping @Sendable (Exchange) -> Bool
    ) { (self.base, isInCacheKey, self.name, self.chooses) = (base, inCacheKey, name, chooses) }

    /// Changes the origin of selected requests. Throws ``URLFilterError`` if the base isn't valid.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        guard chooses(exchange) else { return }
        try URLText.checkWithoutQuery(base, filter: name)
        try url.setOrigin(base)
    }
}

extension URLFilter where Self == CDNFilter {
    /// Sends the requests that a closure selects to another origin. By default, the closure selects all GET and HEAD
    /// requests.
    public static func cdn(
        _ base: String, inCacheKey: Bool = false, name: String = "cdn",
        where chooses: @escaping @Sendable (Exchange) -> Bool = { $0.http.method == .get || $0.http.method == .head }
    ) -> CDNFilter { CDNFilter(base, inCacheKey: inCacheKey, name: name, where: chooses) }
}

extension RequestBaseURL {
    /// The agent's `cdnURL` as the base of a request. If the agent doesn't have a `cdnURL`, the request fails.
    public static let cdn = RequestBaseURL.named("cdn")
}

extension AgentConfiguration {
    /// The base URL for requests with `base: .cdn`. Defaults to `nil`.
    public var cdnURL: String? {
        get { namedBaseURLs["cdn"] }
        set { namedBaseURLs["cdn"] = newValue }
    }
}
