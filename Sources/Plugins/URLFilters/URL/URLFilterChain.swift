public import Errand
import ErrandEssentials

/// Runs URL filters in order. Create it with `.urls`.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: "https://example.com", transport: .curl,
///     filters: [.urls(.prefix("/api"), .query(["v": "3"]), .sign(key: .init(secret)))])
/// ```
///
/// The chain runs once per attempt if it comes after a retry filter in the array, otherwise once per call. Put it
/// before caches, which read ``ResourceURL``. It doesn't filter the URLs of redirects.
public struct URLFilterChain: Filter, CustomStringConvertible, CustomReflectable {
    fileprivate struct Step: Sendable {
        let name: String
        let isHidden: Bool
        let marksUser: Bool
        let filter: any URLFilter
        /// The same filter, cast once and not for every request.
        let editor: (any URLTextFilter)?
    }

    private let steps: [Step]
    /// The filter has the trait ``FilterTraits/signs`` if one of its filters signs, and ``FilterTraits/changesRequest``
    /// if there are others. Adds ``FilterTraits/outsideCacheKey`` if cache keys contain none of their changes.
    public let traits: FilterTraits

    /// Creates a chain from a list of filters.
    public init(_ filters: [any URLFilter]) {
        steps = filters.map { filter in
            Step(
                name: filter.name, isHidden: !filter.isInCacheKey, marksUser: filter.marksUser && !filter.isInCacheKey,
                filter: filter, editor: filter as? any URLTextFilter)
        }
        let others = filters.filter { !($0 is SigningURLFilter) }
        var traits: FilterTraits = others.count < filters.count ? .signs : []
        if !others.isEmpty {
            traits.formUnion(
                others.contains(where: \.isInCacheKey) ? .changesRequest : [.changesRequest, .outsideCacheKey])
        }
        self.traits = traits
    }

    /// Changes the request's URL with each filter in order, and calls `next`.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let exemption = exchange.filterExemption
        var url = URLText(exchange.http.url, key: exchange.tags[ResourceURL.self])
        let hadResourceURL = url.keyText != nil
        var secrets: [(step: String, items: String)] = []
        for step in steps where !exemption.contains(step.name) {
            (url.filter, url.isHidden) = (step.name, step.isHidden)
            let before = step.marksUser ? url.query : ""
            defer {
                if step.marksUser, let items = url.items(besides: before) { secrets.append((step.name, items)) }
            }
            if let editor = step.editor {
                try await editor.edit(&url, for: exchange)
            } else {
                url = try await step.apply(to: url, exchange)
            }
        }
        guard url.isChanged else { return try await next(exchange) }
        var exchange = exchange
        if hadResourceURL || url.keyText != nil { exchange.tags[ResourceURL.self] = try url.keyURL() }
        // Before the URL is set: if another filter in the list moved the request to an origin that mustn't see the
        // secrets, they are removed along with the marks.
        for (step, items) in secrets {
            exchange.assign(
                to: UserMark(items, source: "query \(step)"), queryItems: items.split(separator: "&").map(String.init))
        }
        exchange.http.url = try url.url()
        return try await next.sending(exchange)
    }

    /// The names of the filters: "URL filters: prefix, query, sign".
    public var description: String { "URL filters: " + steps.map(\.name).joined(separator: ", ") }
    /// The filter's line in the agent's `explain`: the same text as ``description``.
    public var explanation: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets of the filters.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension URLFilterChain.Step {
    /// Calls a filter that returns a new URL. If the cache key has a different URL and the filter's change belongs in
    /// it, calls the filter for that URL too.
    fileprivate func apply(to url: URLText, _ exchange: Exchange) async throws -> URLText {
        let new = try await filter.filter(try url.url(), for: exchange)
        guard !isHidden, let key = try url.keyURL() else {
            var result = url
            try result.replace(with: new)
            return result
        }
        let newKey = try await filter.filter(key, for: exchange)
        return try url.replacing(with: new, key: newKey)
    }
}

extension Next {
    /// Calls the remaining filters. If an error lacks a request, adds this one, because the agent only knows the
    /// request it built.
    func sending(_ exchange: Exchange) async throws -> HTTPResponse {
        do { return try await self(exchange) } catch var error as ErrandError where error.request == nil {
            error.request = exchange.http
            throw error
        }
    }
}

extension Filter where Self == URLFilterChain {
    /// Creates a filter that runs URL filters in order.
    public static func urls(_ filters: any URLFilter...) -> URLFilterChain { URLFilterChain(filters) }

    /// Creates a filter that runs a list of URL filters in order.
    public static func urls(_ filters: [any URLFilter]) -> URLFilterChain { URLFilterChain(filters) }
}
