public import Errand

/// Adds headers to every request: fixed ones, computed ones, or a signature; made by `.headers`.
///
/// Sensitive ones, a signature among them, go to the agent's own origins only; see `Exchange.isTrusted`.
///
/// ```swift
/// .headers(["X-App": "shop"])
/// .headers(merge: .replace) { exchange in exchange.http.url.path == "/login" ? [:] : ["X-Session": session.id] }
/// ```
public struct HeaderFilter: Filter, CustomStringConvertible, CustomReflectable {
    /// What errors and exemptions call it.
    public let name: String
    private let rule: MergeRule
    private let headers: @Sendable (Exchange) async throws -> HTTPHeaders

    /// Headers computed once for each request; by default the request's own of a name stay.
    public init(
        merge rule: MergeRule = .keep, name: String = "headers",
        _ headers: @escaping @Sendable (Exchange) async throws -> HTTPHeaders
    ) { (self.rule, self.name, self.headers) = (rule, name, headers) }

    /// A signature and its time as headers, lost on a redirect to another origin.
    public init(signedBy signer: Signer, name: String = "sign") {
        self.init(merge: .replace, name: name) { exchange in
            var headers = HTTPHeaders()
            for (field, value) in try await signer.sign(URLText(exchange.http.url), exchange, filter: name) {
                headers.add(HTTPHeaderName(field), value, sensitive: true)
            }
            return headers
        }
    }

    /// Adds the headers and goes on.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard !exchange.filterExemption.contains(name) else { return try await next(exchange) }
        var new = try await headers(exchange)
        var changed = exchange
        if !exchange.isTrusted {
            let secrets = Set(new.lazy.filter(\.isSensitive).map(\.name))
            changed.http.headers = HTTPHeaders(
                changed.http.headers.map {
                    .init($0.name, $0.value, sensitive: $0.isSensitive || secrets.contains($0.name))
                })
            new.removeAll(where: \.isSensitive)
        }
        changed.http.headers.merge(new, by: rule)
        return try await next.sending(changed)
    }

    /// Its name.
    public var description: String { name }
    /// Nothing, since headers may be secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders {
    fileprivate mutating func merge(_ new: HTTPHeaders, by rule: MergeRule) {
        switch rule {
        case .replace: merge(new)
        case .append: for field in new { add(field.name, field.value, sensitive: field.isSensitive) }
        case .keep:
            let old = self
            for field in new {
                if !old.contains(field.name) {
                    add(field.name, field.value, sensitive: field.isSensitive)
                } else if field.isSensitive {
                    self = HTTPHeaders(
                        map { .init($0.name, $0.value, sensitive: $0.isSensitive || $0.name == field.name) })
                }
            }
        }
    }
}

extension Filter where Self == HeaderFilter {
    /// Adds fixed headers; the request's own of a name stay by default.
    public static func headers(_ headers: HTTPHeaders, merge rule: MergeRule = .keep, name: String = "headers")
        -> HeaderFilter
    { HeaderFilter(merge: rule, name: name) { _ in headers } }

    /// Adds headers computed for each request; the request's own of a name stay by default.
    public static func headers(
        merge rule: MergeRule = .keep, name: String = "headers",
        _ headers: @escaping @Sendable (Exchange) async throws -> HTTPHeaders
    ) -> HeaderFilter { HeaderFilter(merge: rule, name: name, headers) }

    /// Adds a signature as headers.
    public static func headers(signedBy signer: Signer, name: String = "sign") -> HeaderFilter {
        HeaderFilter(signedBy: signer, name: name)
    }
}
