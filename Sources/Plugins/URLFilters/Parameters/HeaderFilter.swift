public import Errand
import ErrandEssentials

/// Adds header fields to every request: fixed fields, computed fields or a signature. Create it with `.headers`.
///
/// Sensitive fields, such as a signature, go only to the agent's trusted origins; see `Exchange.isTrusted`.
///
/// ```swift
/// .headers(["X-App": "shop"])
/// .headers(merge: .replace) { exchange in exchange.http.url.path == "/login" ? [:] : ["X-Session": session.id] }
/// ```
public struct HeaderFilter: Filter, CustomStringConvertible, CustomReflectable {
    /// The filter's name in errors and exemptions.
    public let name: String
    private let rule: MergeRule
    private let headers: @Sendable (Exchange) async throws -> (HTTPHeaders, mark: UserMark?)
    /// ``FilterTraits/signs`` for a signature, otherwise ``FilterTraits/changesRequest``.
    public let traits: FilterTraits
    /// The filter's line in the agent's `explain`, such as `header filter "headers"`.
    public var explanation: String { "header filter \"\(name)\"" }

    /// Creates a filter that adds header fields. The closure computes them once per request.
    public init(
        merge rule: MergeRule = .keep, name: String = "headers",
        _ headers: @escaping @Sendable (Exchange) async throws -> HTTPHeaders
    ) { self.init(merge: rule, name: name, traits: .changesRequest) { (try await headers($0), nil) } }

    private init(
        merge rule: MergeRule, name: String, traits: FilterTraits,
        _ headers: @escaping @Sendable (Exchange) async throws -> (HTTPHeaders, mark: UserMark?)
    ) { (self.rule, self.name, self.traits, self.headers) = (rule, name, traits, headers) }

    /// Creates a filter that adds a signature and its timestamp as header fields. If a redirect leads to another
    /// origin, these fields are removed.
    public init(signedBy signer: Signer, name: String = "sign") {
        self.init(merge: .replace, name: name, traits: .signs) { exchange in
            var headers = HTTPHeaders()
            let key = try await signer.secret(for: exchange, filter: name)
            for (field, value) in try signer.sign(URLText(exchange.http.url), exchange, with: key, filter: name) {
                headers.add(HTTPHeaderName(field), value, sensitive: true)
            }
            // The key identifies the user. The signature doesn't, because it changes with its timestamp.
            return (headers, UserMark(key.data.base64EncodedString(), source: "signature"))
        }
    }

    /// Adds the header fields to the request and calls `next`.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard !exchange.filterExemption.contains(name) else { return try await next(exchange) }
        let (made, mark) = try await headers(exchange)
        var (new, changed) = (made, exchange)
        if !exchange.isTrusted {
            let secrets = Set(new.lazy.filter(\.isSensitive).map(\.name))
            changed.http.headers = HTTPHeaders(
                changed.http.headers.map {
                    .init($0.name, $0.value, sensitive: $0.isSensitive || secrets.contains($0.name))
                })
            new.removeAll(where: \.isSensitive)
        }
        changed.http.headers.merge(new, by: rule)
        if let mark, !new.isEmpty { changed.assign(to: mark, carriedBy: Array(new)) }
        return try await next.sending(changed)
    }

    /// The filter's name.
    public var description: String { name }
    /// A mirror without children, to hide the header fields.
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
    /// Adds fixed header fields to every request.
    public static func headers(_ headers: HTTPHeaders, merge rule: MergeRule = .keep, name: String = "headers")
        -> HeaderFilter
    { HeaderFilter(merge: rule, name: name) { _ in headers } }

    /// Adds header fields to every request. The closure computes them for each request.
    public static func headers(
        merge rule: MergeRule = .keep, name: String = "headers",
        _ headers: @escaping @Sendable (Exchange) async throws -> HTTPHeaders
    ) -> HeaderFilter { HeaderFilter(merge: rule, name: name, headers) }

    /// Adds a signature and its timestamp as header fields.
    public static func headers(signedBy signer: Signer, name: String = "sign") -> HeaderFilter {
        HeaderFilter(signedBy: signer, name: name)
    }
}

/// Decides what happens to a parameter or header that the request already has.
public enum MergeRule: Sendable, Hashable {
    /// Adds the filter's value after the request's own value. This is the default for queries.
    case append
    /// Replaces the request's own value. This is the default for bodies.
    case replace
    /// Keeps the request's own value and ignores the filter's value. This is the default for headers.
    case keep
}
