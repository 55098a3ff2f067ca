public import Errand

/// Adds fixed or computed items to every query. Create it with `.query`.
///
/// ```swift
/// .query(["v": "3", "platform": "linux"])
/// .query(inCacheKey: false, name: "token") { _ in ["token": try await session.token] }
/// ```
///
/// Keep tokens out of cache keys with `inCacheKey: false`, as in the second example. The filter then treats the items
/// as secrets: only trusted origins receive them, and caches separate users by an HMAC of the items.
///
/// - For items outside the cache key that aren't secret, such as a time, also set `toAnyOrigin` to `true`.
/// - For a secret that belongs in the cache key, set `toAnyOrigin` to `false`.
///
/// See `Exchange.isTrusted`.
public struct QueryFilter: URLTextFilter {
    private enum Source: Sendable {
        case fixed(Result<String, URLFilterError>)
        case computed(@Sendable (Exchange) async throws -> Parameters, ParameterEncoding)
    }

    /// The filter's name in errors and exemptions.
    public let name: String
    /// Whether cache keys contain the items.
    public let isInCacheKey: Bool
    /// Whether the items are secret. Secret items are left out of cache keys and sent only to trusted origins.
    public var marksUser: Bool { !isInCacheKey && !toAnyOrigin }
    private let source: Source
    private let rule: MergeRule
    private let toAnyOrigin: Bool

    /// Creates a filter that adds fixed items. If the items can't be encoded, requests throw
    /// ``URLFilterError/Code/invalidParameters``.
    public init(
        _ parameters: Parameters, merge rule: MergeRule = .append, encoding: ParameterEncoding = ParameterEncoding(),
        inCacheKey: Bool = true, toAnyOrigin: Bool? = nil, name: String = "query"
    ) {
        let text = Result { try QueryText.encode(parameters, encoding, filter: name) }
        source = .fixed(
            text.mapError { $0 as? URLFilterError ?? URLFilterError(.invalidParameters, filter: name, "\($0)") })
        (self.rule, self.isInCacheKey, self.name) = (rule, inCacheKey, name)
        self.toAnyOrigin = toAnyOrigin ?? inCacheKey
    }

    /// Creates a filter that adds items. The closure computes them once per request.
    public init(
        merge rule: MergeRule = .append, encoding: ParameterEncoding = ParameterEncoding(), inCacheKey: Bool = true,
        toAnyOrigin: Bool? = nil, name: String = "query",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) {
        source = .computed(parameters, encoding)
        (self.rule, self.isInCacheKey, self.name) = (rule, inCacheKey, name)
        self.toAnyOrigin = toAnyOrigin ?? inCacheKey
    }

    /// Adds the items if the request's origin may receive them. Throws ``URLFilterError/Code/invalidParameters``.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        guard toAnyOrigin || exchange.isTrusted else { return }
        switch source {
        case .fixed(let text): url.merge(query: try text.get(), by: rule)
        case .computed(let parameters, let encoding):
            try url.merge(try await parameters(exchange), by: rule, encoding: encoding)
        }
    }
}

extension URLFilter where Self == QueryFilter {
    /// Adds fixed items to every query.
    public static func query(
        _ parameters: Parameters, merge rule: MergeRule = .append, encoding: ParameterEncoding = ParameterEncoding(),
        inCacheKey: Bool = true, toAnyOrigin: Bool? = nil, name: String = "query"
    ) -> QueryFilter {
        QueryFilter(
            parameters, merge: rule, encoding: encoding, inCacheKey: inCacheKey, toAnyOrigin: toAnyOrigin, name: name)
    }

    /// Adds items to every query. The closure computes them for each request.
    public static func query(
        merge rule: MergeRule = .append, encoding: ParameterEncoding = ParameterEncoding(), inCacheKey: Bool = true,
        toAnyOrigin: Bool? = nil, name: String = "query",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) -> QueryFilter {
        QueryFilter(
            merge: rule, encoding: encoding, inCacheKey: inCacheKey, toAnyOrigin: toAnyOrigin, name: name, parameters)
    }
}

/// Removes fragments or tracking parameters from URLs, because they don't matter to the server. Create it with
/// `.withoutFragment` or `.withoutTracking`.
public struct StripFilter: URLTextFilter {
    /// The filter's name in errors and exemptions.
    public let name: String
    private let parameters: Set<String>?

    private init(_ name: String, _ parameters: Set<String>?) { (self.name, self.parameters) = (name, parameters) }

    /// Removes fragments.
    public static let fragments = StripFilter("fragment", nil)

    /// Returns a filter that removes the ``commonTracking`` parameters, parameters that start with `utm_`, and the
    /// parameters in `more`.
    public static func tracking(_ more: [String] = []) -> StripFilter {
        StripFilter("tracking", commonTracking.union(more))
    }

    /// Parameters that advertisers and newsletters commonly add to links to track visitors.
    public static let commonTracking: Set<String> = [
        "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "mc_cid", "mc_eid", "igshid", "twclid",
        "ttclid", "yclid", "_hsenc", "_hsmi", "vero_id", "oly_anon_id", "oly_enc_id", "srsltid",
    ]

    /// Removes the fragment or the parameters.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        guard let parameters else { return url.removeFragment() }
        url.removeQuery { name in name.hasPrefix("utm_") || parameters.contains(name) }
    }
}

extension URLFilter where Self == StripFilter {
    /// Removes fragments. Fragments are never sent to the server, but would create separate cache entries.
    public static var withoutFragment: StripFilter { .fragments }

    /// Removes `utm_…`, `gclid`, `fbclid` and similar parameters, and the parameters you pass.
    public static func withoutTracking(and more: String...) -> StripFilter { .tracking(more) }

    /// Removes `utm_…`, `gclid`, `fbclid` and similar parameters.
    public static var withoutTracking: StripFilter { .tracking() }
}
