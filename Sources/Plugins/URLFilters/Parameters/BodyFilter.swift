public import Errand
import ErrandEssentials

/// Adds parameters or a signature to forms and JSON objects. Create it with `.body`.
///
/// ```swift
/// .body(["app": "shop", "version": 3])
/// .body(merge: .keep) { exchange in ["trace": "\(exchange.activity.id)"] }
/// .body(signedBy: Signer(key: "secret"))
/// ```
///
/// The parameters may be secret, so only requests to trusted origins get them, unless `toAnyOrigin` is `true`; see
/// `Exchange.isTrusted`. The existing content stays the same, byte for byte. By default, a POST, PUT or PATCH request
/// without a body gets a form. If an outer filter compresses the body, this filter still changes the uncompressed body.
///
/// The filter doesn't change files, streams, multipart bodies, or JSON that isn't an object. If the request applied a
/// content coding to its body, the filter doesn't change the body either, but sends accessories a note. If a form or
/// JSON object is malformed or isn't in memory, the filter throws ``URLFilterError/Code/invalidBody``.
public struct BodyFilter: Filter, CustomStringConvertible, CustomReflectable {
    /// The body to create for a POST, PUT or PATCH without a body.
    public enum EmptyBody: Sendable, Hashable {
        /// A form, `application/x-www-form-urlencoded`. This is the default.
        case form
        /// A JSON object, `application/json`.
        case json
        /// No body, so such requests don't get the parameters.
        case nothing
    }

    /// The filter's name in errors and exemptions.
    public let name: String
    private let rule: MergeRule
    private let empty: EmptyBody
    private let encoding: ParameterEncoding
    private let toAnyOrigin: Bool
    /// ``FilterTraits/signs`` for a signature, otherwise ``FilterTraits/changesRequest``.
    public let traits: FilterTraits
    /// The filter's line in the agent's `explain`, such as `body filter "sign"`.
    public var explanation: String { "body filter \"\(name)\"" }
    private let parameters: @Sendable (Exchange) async throws -> Parameters

    /// Creates a filter that adds parameters. The closure computes them once per request.
    public init(
        merge rule: MergeRule = .replace, empty: EmptyBody = .form,
        encoding: ParameterEncoding = ParameterEncoding(), toAnyOrigin: Bool = false, name: String = "body",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) {
        self.init(
            merge: rule, empty: empty, encoding: encoding, toAnyOrigin: toAnyOrigin, name: name,
            traits: .changesRequest, parameters)
    }

    private init(
        merge rule: MergeRule, empty: EmptyBody, encoding: ParameterEncoding, toAnyOrigin: Bool, name: String,
        traits: FilterTraits, _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) {
        (self.rule, self.empty, self.encoding, self.name) = (rule, empty, encoding, name)
        (self.toAnyOrigin, self.traits, self.parameters) = (toAnyOrigin, traits, parameters)
    }

    /// Creates a filter that adds a signature and its timestamp as parameters.
    public init(signedBy signer: Signer, empty: EmptyBody = .form, name: String = "sign") {
        self.init(
            merge: .replace, empty: empty, encoding: ParameterEncoding(sortsNames: false), toAnyOrigin: false,
            name: name, traits: .signs
        ) {
            let added = try await signer.sign(URLText($0.http.url), $0, filter: name)
            return Parameters(added.map { .init($0.name, .string($0.value)) })
        }
    }

    /// Adds the parameters if the request may receive them. Throws ``URLFilterError`` if it can't encode the body or
    /// the parameters.
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
                exchange.note(
                    name, "no parameters were added, because the request applied a content coding to its body")
            }
            return nil
        }
        let new = try await parameters(exchange)
        if new.isEmpty { return nil }
        let data = try body.merging(new, by: rule, encoding: encoding, filter: name)
        http.body = try http.body.recoded(.data(data, contentType: http.body.contentType))
        if http.headers.contains(.contentLength) { http.headers[.contentLength] = http.body.length.map(String.init) }
        return http
    }

    /// The filter's name.
    public var description: String { name }
    /// A mirror without children, to hide the parameters.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Filter where Self == BodyFilter {
    /// Adds fixed parameters to forms and JSON objects.
    public static func body(
        _ parameters: Parameters, merge rule: MergeRule = .replace, empty: BodyFilter.EmptyBody = .form,
        encoding: ParameterEncoding = ParameterEncoding(), toAnyOrigin: Bool = false, name: String = "body"
    ) -> BodyFilter {
        BodyFilter(merge: rule, empty: empty, encoding: encoding, toAnyOrigin: toAnyOrigin, name: name) { _ in
            parameters
        }
    }

    /// Adds parameters to forms and JSON objects. The closure computes them for each request.
    public static func body(
        merge rule: MergeRule = .replace, empty: BodyFilter.EmptyBody = .form,
        encoding: ParameterEncoding = ParameterEncoding(), toAnyOrigin: Bool = false, name: String = "body",
        _ parameters: @escaping @Sendable (Exchange) async throws -> Parameters
    ) -> BodyFilter {
        BodyFilter(merge: rule, empty: empty, encoding: encoding, toAnyOrigin: toAnyOrigin, name: name, parameters)
    }

    /// Adds a signature and its timestamp to forms and JSON objects.
    public static func body(
        signedBy signer: Signer, empty: BodyFilter.EmptyBody = .form, name: String = "sign"
    ) -> BodyFilter { BodyFilter(signedBy: signer, empty: empty, name: name) }
}
