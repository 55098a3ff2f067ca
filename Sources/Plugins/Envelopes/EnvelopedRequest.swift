public import Errand
public import ErrandEssentials

/// A request whose response has its model in an envelope: `Output` is the model.
///
/// ```swift
/// protocol ShopRequest: EnvelopedRequest where Envelope == Reply {}
///
/// struct GetProfile: ShopRequest {
///     typealias Output = User
///     var path: String { "profile" }
/// }
///
/// let user = try await agent.send(GetProfile()).value
/// ```
///
/// A failure that the envelope reports is thrown as ``EnvelopeError``, from a cache as well, and no cache keeps it. For
/// `Void` the envelope is judged and nothing is decoded; an optional is nil where the model is null or missing; `Data` and
/// `HTTPResponse` are the whole response, once the envelope reports a success.
///
/// A streamed body is not judged. One in a file is, where its `Content-Type` is JSON.
public protocol EnvelopedRequest<Envelope>: Request {
    /// The type of the envelope.
    associatedtype Envelope: ResponseEnvelope
}

extension EnvelopedRequest {
    /// ``Errand/ResponseCheck/envelope(_:method:)``; nil for a stream.
    public var outcomeCheck: ResponseCheck? {
        delivery == .stream ? nil : .envelope(Envelope.self, method: method)
    }
}

extension EnvelopedRequest where Output: Decodable {
    /// The model in the envelope.
    public func decode(_ response: HTTPResponse) async throws -> Output { try response.content(of: Envelope.self) }
}

extension EnvelopedRequest where Output == String {
    /// The text in the envelope.
    public func decode(_ response: HTTPResponse) async throws -> Output { try response.content(of: Envelope.self) }
}

extension EnvelopedRequest where Output == Data {
    /// The bytes of the whole body.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.data }
}

extension EnvelopedRequest where Output == URL {
    /// The file that the body was delivered into, or the URL in the envelope.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        try response.body.file ?? response.content(of: Envelope.self)
    }
}
