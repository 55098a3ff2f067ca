public import Errand

import ErrandEssentials

/// Runs URL filters on the way of a request, once a call, in order; made by `.urls`.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: "https://example.com", transport: .curl,
///     filters: [.urls(.prefix("/api"), .query(["v": "3"]), .sign(key: .init(secret)))])
/// ```
///
/// Where it stands in the array says what it sees and who sees its work: behind a retry filter it runs for each try,
/// before it once. It stands before caches, which read ``ResourceURL``. Redirects lead where the server says; they are
/// not filtered.
public struct URLFilterChain: Filter, CustomStringConvertible, CustomReflectable {
    fileprivate struct Step: Sendable {
        let name: String
        let isHidden: Bool
        let filter: any URLFilter
        /// The same filter, looked up once rather than with a cast for every request.
        let editor: (any URLTextFilter)?
    }

    private let steps: [Step]

    /// Makes one of a list.
    public init(_ filters: [any URLFilter]) {
        steps = filters.map { filter in
            Step(
                name: filter.name, isHidden: !filter.isInCacheKey, filter: filter, editor: filter as? any URLTextFilter)
        }
    }

    /// Filters the URL and goes on.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let exemption = exchange.filterExemption
        var url = URLText(exchange.http.url, key: exchange.tags[ResourceURL.self])
        let knewKey = url.keyText != nil
        for step in steps where !exemption.contains(step.name) {
            (url.filter, url.isHidden) = (step.name, step.isHidden)
            if let editor = step.editor {
                try await editor.edit(&url, for: exchange)
            } else {
                url = try await step.apply(to: url, exchange)
            }
        }
        guard url.isChanged else { return try await next(exchange) }
        var exchange = exchange
        if knewKey || url.keyText != nil { exchange.tags[ResourceURL.self] = try url.keyURL() }
        exchange.http.url = try url.url()
        return try await next.sending(exchange)
    }

    /// The names of the filters: "URL filters: prefix, query, sign".
    public var description: String { "URL filters: " + steps.map(\.name).joined(separator: ", ") }
    /// Nothing, since filters may hold secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension URLFilterChain.Step {
    /// Asks a filter that returns another URL, twice where the cache's key is another URL and sees it.
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
    /// Goes on; a failure without a request gets this one, since the agent knows only what it built.
    func sending(_ exchange: Exchange) async throws -> HTTPResponse {
        do { return try await self(exchange) } catch var error as ErrandError where error.request == nil {
            error.request = exchange.http
            throw error
        }
    }
}

extension Filter where Self == URLFilterChain {
    /// Runs URL filters, in order.
    public static func urls(_ filters: any URLFilter...) -> URLFilterChain { URLFilterChain(filters) }

    /// Runs URL filters, in order.
    public static func urls(_ filters: [any URLFilter]) -> URLFilterChain { URLFilterChain(filters) }
}
