public import Errand

/// The frame that a service puts around each of its models: a code, a message, and the model under a key of its own.
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
/// It decodes the frame and not the model, which a failure may replace by anything, such as `""` or `{}`: the model is
/// decoded of a success alone. Other fields of the frame, such as the total of a list, are further properties.
public protocol ResponseEnvelope: Decodable, Sendable {
    /// The code of the service, a number or a text.
    var code: EnvelopeCode { get }
    /// The sentence that the service has for people; nil, the default, if it has none.
    var message: String? { get }
    /// Whether the service did what it was asked to.
    var isSuccess: Bool { get }
    /// Whether a failure means that the credential is refused, such as one that has expired; false by default. A session
    /// of `ErrandAuthentication` refreshes it then, and sends the request again.
    var refusesCredential: Bool { get }
    /// The key of the model; `"data"` by default. With a decoder that converts keys, the converted one.
    static var valueKey: String { get }
    /// Decodes the model of a success; by default what stands under ``valueKey``, where an optional is nil for null and for
    /// a key that is missing. For models that are encrypted, or that stand deeper.
    ///
    /// - Parameters:
    ///   - type: the model.
    ///   - decoder: of the whole envelope.
    func value<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value
}

extension ResponseEnvelope {
    /// Nil.
    public var message: String? { nil }
    /// False.
    public var refusesCredential: Bool { false }
    /// `"data"`
    public static var valueKey: String { "data" }

    /// The value under ``valueKey``.
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

/// A key that is known when the program runs.
private struct ValueKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Call where Output: Decodable {
    /// A call for the model in an envelope.
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
    /// A call whose response says all by its envelope.
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
