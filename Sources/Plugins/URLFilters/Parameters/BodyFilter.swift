public import Errand

import ErrandEssentials

/// Adds parameters to every form and every JSON object that is sent, or a signature; made by `.body`.
///
/// ```swift
/// .body(["app": "shop", "version": 3])
/// .body(merge: .keep) { exchange in ["trace": "\(exchange.activity.id)"] }
/// .body(signedBy: Signer(key: "secret"))
/// ```
///
/// Since parameters may be secret, a request to another origin than the agent's own goes without them unless
/// `toAnyOrigin` is true; see `Exchange.isTrusted`. What is there stays as it is, byte by byte. A POST, PUT or PATCH without a body gets a form, if not told otherwise.
/// Other bodies are left alone: files, streams, multipart, JSON that is no object, what is compressed. A form or JSON
/// object that is malformed or not in memory throws ``URLFilterError/Code/body``.
public struct BodyFilter: Filter, CustomStringConvertible, CustomReflectable {
    /// What a POST, PUT or PATCH without a body gets.
    public enum EmptyBody: Sendable, Hashable {
        /// A form; the default.
        case form
        /// A JSON object.
        case json
        /// Nothing: it stays without.
        case nothing
    }

    /// What errors and exemptions call it.
    public let name: String
    private let rule: MergeRule
    private let empty: EmptyBody
    private let encoding: ParameterEncoding
    private let toAnyOrigin: Bool
    private let parameters: @Sendable (Exchange) async throws -> Parameters

    /// Parameters computed once for each request; by default they take the place of the request's own of a name.
    public init(
        merge rule: MergeRule = .replace, empty: EmptyBody = .form,
        encoding: ParameterEncoding = ParameterEncoding(), toAnyOrigin: Bool = false, name: String = "body",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) {
        (self.rule, self.empty, self.encoding, self.name) = (rule, empty, encoding, name)
        (self.toAnyOrigin, self.parameters) = (toAnyOrigin, parameters)
    }

    /// A signature and its time as parameters.
    public init(signedBy signer: Signer, empty: EmptyBody = .form, name: String = "sign") {
        self.init(merge: .replace, empty: empty, encoding: ParameterEncoding(sortsNames: false), name: name) {
            let added = try await signer.sign(URLText($0.http.url), $0, filter: name)
            return Parameters(added.map { .init($0.name, .string($0.value)) })
        }
    }

    /// Adds the parameters, where the request goes to an origin of the agent's own, and goes on.
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

    /// The request with the parameters in its body; nil if it stays as it is.
    private func changed(_ exchange: Exchange) async throws -> HTTPRequest? {
        var http = exchange.http
        if http.body.isNone {
            guard empty != .nothing, [.post, .put, .patch].contains(http.method) else { return nil }
            let type = empty == .form ? "application/x-www-form-urlencoded" : "application/json"
            http.headers[.contentType] = http.headers[.contentType] ?? type
            http.body = .data(Data((empty == .form ? "" : "{}").utf8), contentType: type)
        }
        guard let body = try BodyParameters(http, filter: name) else { return nil }
        let new = try await parameters(exchange)
        if new.isEmpty { return nil }
        let data = try body.merging(new, rule, encoding, filter: name)
        http.body = .data(data, contentType: http.body.contentType)
        if http.headers.contains(.contentLength) { http.headers[.contentLength] = "\(data.count)" }
        return http
    }

    /// Its name.
    public var description: String { name }
    /// Nothing, since parameters may be secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Filter where Self == BodyFilter {
    /// Adds fixed parameters; they take the place of the request's own of a name by default.
    public static func body(
        _ parameters: Parameters, merge rule: MergeRule = .replace, empty: BodyFilter.EmptyBody = .form,
        encoding: ParameterEncoding = ParameterEncoding(), toAnyOrigin: Bool = false, name: String = "body"
    ) -> BodyFilter {
        BodyFilter(merge: rule, empty: empty, encoding: encoding, toAnyOrigin: toAnyOrigin, name: name) { _ in
            parameters
        }
    }

    /// Adds parameters computed for each request; they take the place of the request's own of a name by default.
    public static func body(
        merge rule: MergeRule = .replace, empty: BodyFilter.EmptyBody = .form,
        encoding: ParameterEncoding = ParameterEncoding(), toAnyOrigin: Bool = false, name: String = "body",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) -> BodyFilter {
        BodyFilter(merge: rule, empty: empty, encoding: encoding, toAnyOrigin: toAnyOrigin, name: name, parameters)
    }

    /// Adds a signature.
    public static func body(
        signedBy signer: Signer, empty: BodyFilter.EmptyBody = .form, name: String = "sign"
    ) -> BodyFilter { BodyFilter(signedBy: signer, empty: empty, name: name) }
}
