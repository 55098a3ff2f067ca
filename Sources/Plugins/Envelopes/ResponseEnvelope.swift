public import Errand
import ErrandEssentials

/// A JSON object that a service wraps around each model in its responses. The envelope contains a code, a message and
/// the model.
///
/// ```swift
/// struct Reply: ResponseEnvelope {
///     let code: EnvelopeCode
///     let message: String?
///     var isSuccess: Bool { code == 0 }
///     var refusesCredential: Bool { code == 40_101 }
///
///     enum CodingKeys: String, CodingKey { case code, message = "msg" }
/// }
/// ```
///
/// Don't declare a property for the model, because decoding the envelope could then fail: after a failure, a service
/// may send anything in place of the model, such as `""` or `{}`. You can add properties for other fields, such as the
/// total of a list.
public protocol ResponseEnvelope: Decodable, Sendable {
    /// The service's code for the outcome of the request.
    var code: EnvelopeCode { get }
    /// The service's message for users. Defaults to `nil`.
    var message: String? { get }
    /// Whether the service fulfilled the request.
    var isSuccess: Bool { get }
    /// Whether the service rejected the request's credential. If it did, an `AuthenticationSession` from
    /// `ErrandAuthentication` refreshes the credential and sends the request again. Defaults to `false`.
    var refusesCredential: Bool { get }
    /// The key of the model. Defaults to `"data"`. If the decoder converts keys, return the converted key.
    static var valueKey: String { get }
    /// Decodes the model after a success. Implement this method if models are encrypted or nested more deeply.
    ///
    /// The default implementation decodes the value under ``valueKey``. If the model's type is an optional, the result
    /// is `nil` if that value is null or missing.
    ///
    /// - Parameter decoder: the decoder of the whole envelope.
    func value<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value
}

extension ResponseEnvelope {
    /// Returns `nil`.
    public var message: String? { nil }
    /// Returns `false`.
    public var refusesCredential: Bool { false }
    /// Returns `"data"`.
    public static var valueKey: String { "data" }

    /// Decodes the value under ``valueKey``.
    public func value<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        let container = try decoder.container(keyedBy: ValueKey.self)
        let key = ValueKey(stringValue: Self.valueKey)
        if let optional = type as? any ExpressibleByNilLiteral.Type,
            try !container.contains(key) || container.decodeNil(forKey: key),
            let none = optional.init(nilLiteral: ()) as? Value
        {
            return none
        }
        return try container.decode(type, forKey: key)
    }
}

private struct ValueKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Call where Output: Decodable {
    /// Creates a call that returns the model in an envelope.
    ///
    /// ```swift
    /// let user = try await agent.send(Call<User>(.get, "users/7", in: Reply.self)).value
    /// ```
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        in envelope: (some ResponseEnvelope).Type, configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, decode: { try $0.content(of: envelope) }) { call in
            (call.outcomeCheck, call.acceptableContentTypes) = (.envelope(envelope, method: method), .json)
            configure(&call)
        }
    }
}

extension Call where Output == Void {
    /// Creates a call that only checks the envelope.
    ///
    /// ```swift
    /// try await agent.send(Call<Void>(.delete, "users/7", in: Reply.self))
    /// ```
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        in envelope: (some ResponseEnvelope).Type, configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, decode: { _ in }) { call in
            call.outcomeCheck = .envelope(envelope, method: method)
            configure(&call)
        }
    }
}

extension ResponseCheck {
    /// Creates a check that throws ``EnvelopeError`` if the envelope reports a failure, and `decodingFailed` if the
    /// response has no envelope. Use it as the ``Errand/Request/outcomeCheck`` of a request that decodes its own
    /// response.
    ///
    /// ```swift
    /// var outcomeCheck: ResponseCheck? { .envelope(Reply.self) }
    /// ```
    ///
    /// An empty body passes for HEAD and for statuses 204, 205 and 304.
    ///
    /// - Parameter method: the request's method. Defaults to GET.
    public static func envelope<Envelope: ResponseEnvelope>(
        _ type: Envelope.Type, method: HTTPMethod = .get
    ) -> ResponseCheck {
        ResponseCheck("envelope") { response in
            let hasNone = method == .head || [204, 205, 304].contains(response.status)
            if hasNone, response.body.data?.isEmpty == true || response.body.length == 0 { return }
            guard let envelope: Envelope = try await response.envelope(), !envelope.isSuccess else { return }
            throw EnvelopeError(envelope, response: response)
        }
    }
}

/// In bytes, for a body in a file.
private let maximumFileBytes = 1 << 20

extension HTTPResponse {
    fileprivate func envelope<Envelope: ResponseEnvelope>() async throws -> Envelope? {
        if body.data != nil { return try decoded(as: Envelope.self) }
        guard let file = body.file, let mediaType, ContentTypes.json.contains(mediaType),
            let length = body.length, length <= maximumFileBytes
        else { return nil }
        // A separate reader leaves the body unread.
        var copy = self
        copy.body = HTTPBody(try await HTTPBody(file: file).collect(upTo: maximumFileBytes))
        return try? copy.decoded(as: Envelope.self)
    }

    func content<Envelope: ResponseEnvelope, Value: Decodable>(of type: Envelope.Type) throws -> Value {
        if let optional = Value.self as? any ExpressibleByNilLiteral.Type, data.isEmpty,
            let none = optional.init(nilLiteral: ()) as? Value
        {
            return none
        }
        typealias Content = EnvelopeContent<Envelope, Value>
        do { return try decoded(as: Content.self).value } catch var error as ErrandError {
            error.message.replace(
                "expected \(Content.self)", with: "expected \(Value.self) in \(type)", maxReplacements: 1)
            throw error
        }
    }
}

private struct EnvelopeContent<Envelope: ResponseEnvelope, Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try Envelope(from: decoder).value(Value.self, from: decoder)
    }
}
