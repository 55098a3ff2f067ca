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
/// If the chain comes after a retry filter in the agent's array, it runs once per attempt, otherwise once per call. Put
/// the chain before caches. It doesn't change the URLs of redirects.
public struct URLFilterChain: Filter, CustomStringConvertible, CustomReflectable {
    fileprivate struct Step: Sendable {
        let name: String
        let isHidden: Bool
        let marksUser: Bool
        let filter: any URLFilter
        let editor: (any URLTextFilter)?
    }

    private let steps: [Step]
    /// The traits of the filters in the chain:
    ///
    /// - ``FilterTraits/signs`` if a filter signs.
    /// - ``FilterTraits/changesRequest`` if there are other filters.
    /// - ``FilterTraits/outsideCacheKey`` if cache keys don't contain any of the changes.
    public let traits: FilterTraits

    /// Creates a chain from URL filters.
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

    /// Changes the request's URL with each filter in order.
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
        // This happens before the URL is set. If a later filter moved the request to an origin that mustn't see the
        // secrets, setting the URL then removes the secrets and their marks.
        for (step, items) in secrets {
            exchange.assign(
                to: UserMark(items, source: "query \(step)"), queryItems: items.split(separator: "&").map(String.init))
        }
        exchange.http.url = try url.url()
        return try await next.sending(exchange)
    }

    /// The filters' names, such as "URL filters: prefix, query, sign".
    public var description: String { "URL filters: " + steps.map(\.name).joined(separator: ", ") }
    /// The same text as ``description``.
    public var explanation: String { description }
    /// A mirror without children, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension URLFilterChain.Step {
    /// If the cache key has a different URL and contains the filter's change, calls the filter for that URL too.
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
    /// Sends the request. If this throws an error without a request, adds the changed request to the error, because the
    /// agent knows only the request before the change.
    func sending(_ exchange: Exchange) async throws -> HTTPResponse {
        do { return try await self(exchange) } catch var error as ErrandError where error.request == nil {
            error.request = exchange.http
            throw error
        }
    }
}

extension Filter where Self == URLFilterChain {
    /// Runs URL filters in order.
    public static func urls(_ filters: any URLFilter...) -> URLFilterChain { URLFilterChain(filters) }

    /// Runs a list of URL filters in order.
    public static func urls(_ filters: [any URLFilter]) -> URLFilterChain { URLFilterChain(filters) }
}
