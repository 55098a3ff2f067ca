public import Errand
import ErrandEssentials

/// Adds parameters, or a signature, to forms and JSON objects; made by `.body`.
///
/// ```swift
/// .body(["app": "shop", "version": 3])
/// .body(merge: .keep) { exchange in ["trace": "\(exchange.activity.id)"] }
/// .body(signedBy: Signer(key: "secret"))
/// ```
///
/// Since parameters may be secret, requests to other origins than the agent's own do not receive them, unless
/// `toAnyOrigin` is true; see `Exchange.isTrusted`. The existing content is not changed, byte by byte. A POST, PUT or PATCH
/// without a body receives a form by default. A body that a filter further out has compressed is changed before its
/// compression. Other bodies are not changed: files, streams, multipart, JSON that is not an object, and bodies in a content
/// coding of the request's own, for which there is a note. A form or a JSON object that is malformed or not in memory throws
/// ``URLFilterError/Code/invalidBody``.
public struct BodyFilter: Filter, CustomStringConvertible, CustomReflectable {
    /// The body that a POST, PUT or PATCH without one receives.
    public enum EmptyBody: Sendable, Hashable {
        /// A form; the default.
        case form
        /// A JSON object.
        case json
        /// None.
        case nothing
    }

    /// The name in errors and exemptions.
    public let name: String
    private let rule: MergeRule
    private let empty: EmptyBody
    private let encoding: ParameterEncoding
    private let toAnyOrigin: Bool
    /// ``FilterTraits/signs`` for a signature, ``FilterTraits/changesRequest`` for other parameters.
    public let traits: FilterTraits
    /// `body filter "sign"`, with its name.
    public var explanation: String { "body filter \"\(name)\"" }
    private let parameters: @Sendable (Exchange) async throws -> Parameters

    /// Adds parameters that are computed once for each request; by default they replace the request's own of the same
    /// name.
    public init(
        merge rule: MergeRule = .replace, empty: EmptyBody = .form,
        encoding: ParameterEncoding = ParameterEncoding(), toAnyOrigin: Bool = false, name: String = "body",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) {
        self.init(rule, empty, encoding, toAnyOrigin, name, .changesRequest, parameters)
    }

    private init(
        _ rule: MergeRule, _ empty: EmptyBody, _ encoding: ParameterEncoding, _ toAnyOrigin: Bool, _ name: String,
        _ traits: FilterTraits, _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) {
        (self.rule, self.empty, self.encoding, self.name) = (rule, empty, encoding, name)
        (self.toAnyOrigin, self.traits, self.parameters) = (toAnyOrigin, traits, parameters)
    }

    /// Adds a signature and its time as parameters.
    public init(signedBy signer: Signer, empty: EmptyBody = .form, name: String = "sign") {
        self.init(.replace, empty, ParameterEncoding(sortsNames: false), false, name, .signs) {
            let added = try await signer.sign(URLText($0.http.url), $0, filter: name)
            return Parameters(added.map { .init($0.name, .string($0.value)) })
        }
    }

    /// Adds the parameters, if the request may receive them, and calls `next`. Throws ``URLFilterError`` for a body or
    /// parameters that it cannot encode, and the errors of the closure and of `next`.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard toAnyOrigin || exchange.isTrusted, !exchange.filterExemption.contains(name),
            let http = try await changed(exchange)
        else {
            return try await next(exchange)
        }
        var exchange = exchange
        exchange.http = http
        return try await next.sending(exchange)
    }

    /// The request with the parameters in its body; nil if nothing is added.
    private func changed(_ exchange: Exchange) async throws -> HTTPRequest? {
        var http = exchange.http
        if http.body.isNone {
            guard empty != .nothing, [.post, .put, .patch].contains(http.method) else { return nil }
            let type = empty == .form ? "application/x-www-form-urlencoded" : "application/json"
            http.headers[.contentType] = http.headers[.contentType] ?? type
            http.body = .data(Data((empty == .form ? "" : "{}").utf8), contentType: type)
        }
        guard let body = try BodyParameters(http, filter: name) else {
            if BodyParameters.isForeign(http) {
                exchange.note(name, "nothing is added to a body in a content coding of the request's own")
            }
            return nil
        }
        let new = try await parameters(exchange)
        if new.isEmpty { return nil }
        let data = try body.merging(new, rule, encoding, filter: name)
        http.body = try http.body.recoded(.data(data, contentType: http.body.contentType))
        if http.headers.contains(.contentLength) { http.headers[.contentLength] = http.body.length.map(String.init) }
        return http
    }

    /// The name.
    public var description: String { name }
    /// Nothing, since parameters may be secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Filter where Self == BodyFilter {
    /// Adds fixed parameters; by default they replace the request's own of the same name.
    public static func body(
        _ parameters: Parameters, merge rule: MergeRule = .replace, empty: BodyFilter.EmptyBody = .form,
        encoding: ParameterEncoding = ParameterEncoding(), toAnyOrigin: Bool = false, name: String = "body"
    ) -> BodyFilter {
        BodyFilter(merge: rule, empty: empty, encoding: encoding, toAnyOrigin: toAnyOrigin, name: name) { _ in
            parameters
        }
    }

    /// Adds parameters computed for each request; by default they replace the request's own of the same name.
    public static func body(
        merge rule: MergeRule = .replace, empty: BodyFilter.EmptyBody = .form,
        encoding: ParameterEncoding = ParameterEncoding(), toAnyOrigin: Bool = false, name: String = "body",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) -> BodyFilter {
        BodyFilter(merge: rule, empty: empty, encoding: encoding, toAnyOrigin: toAnyOrigin, name: name, parameters)
    }

    /// Adds a signature and its time as parameters.
    public static func body(
        signedBy signer: Signer, empty: BodyFilter.EmptyBody = .form, name: String = "sign"
    ) -> BodyFilter { BodyFilter(signedBy: signer, empty: empty, name: name) }
}
