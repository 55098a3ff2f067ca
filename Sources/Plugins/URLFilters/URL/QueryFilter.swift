public import Errand

/// Adds items to every query: fixed ones, or items computed for each request; made by `.query`.
///
/// ```swift
/// .query(["v": "3", "platform": "linux"])
/// .query(inCacheKey: false, name: "token") { _ in ["token": try await session.token] }
/// ```
///
/// Keep a token out of the cache's key. Items that are not in the key are secrets: they are not sent to other origins
/// than the agent's own, such as that of a "next" link, and caches keep users apart by a keyed hash of them, unless
/// `toAnyOrigin` is true, as it has to be for a time or a number that changes with each request. Pass `toAnyOrigin:
/// false` for a secret that is in the key. See `Exchange.isTrusted`.
public struct QueryFilter: URLTextFilter {
    private enum Source: Sendable {
        case fixed(Result<String, URLFilterError>)
        case computed(@Sendable (Exchange) async throws -> Parameters, ParameterEncoding)
    }

    /// The name in errors and exemptions.
    public let name: String
    /// Whether the key of a cache contains the items.
    public let isInCacheKey: Bool
    /// Whether the items are secret: left out of the key, and not sent to any origin.
    public var marksUser: Bool { !isInCacheKey && !toAnyOrigin }
    private let source: Source
    private let rule: MergeRule
    private let toAnyOrigin: Bool

    /// Adds fixed items, which are encoded once. If they cannot be encoded, the filter throws when it runs.
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

    /// Adds items that are computed once for each request.
    public init(
        merge rule: MergeRule = .append, encoding: ParameterEncoding = ParameterEncoding(), inCacheKey: Bool = true,
        toAnyOrigin: Bool? = nil, name: String = "query",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) {
        source = .computed(parameters, encoding)
        (self.rule, self.isInCacheKey, self.name) = (rule, inCacheKey, name)
        self.toAnyOrigin = toAnyOrigin ?? inCacheKey
    }

    /// Adds the items, if the request's origin may receive them. Throws ``URLFilterError/Code/invalidParameters``, and the
    /// error of the closure.
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
    /// Adds fixed items to every query; appended, and part of the cache's key, by default.
    public static func query(
        _ parameters: Parameters, merge rule: MergeRule = .append, encoding: ParameterEncoding = ParameterEncoding(),
        inCacheKey: Bool = true, toAnyOrigin: Bool? = nil, name: String = "query"
    ) -> QueryFilter {
        QueryFilter(
            parameters, merge: rule, encoding: encoding, inCacheKey: inCacheKey, toAnyOrigin: toAnyOrigin, name: name)
    }

    /// Adds items computed for each request; appended, and part of the cache's key, by default.
    public static func query(
        merge rule: MergeRule = .append, encoding: ParameterEncoding = ParameterEncoding(), inCacheKey: Bool = true,
        toAnyOrigin: Bool? = nil, name: String = "query",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) -> QueryFilter {
        QueryFilter(
            merge: rule, encoding: encoding, inCacheKey: inCacheKey, toAnyOrigin: toAnyOrigin, name: name, parameters)
    }
}
