public import Errand
public import ErrandEssentials

/// A request whose response wraps the model in a ``ResponseEnvelope``. `Output` is the model's type.
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
/// If the envelope reports a failure, the request throws ``EnvelopeError``, even for a cached response. Caches don't
/// store failures.
///
/// - If `Output` is `Void`, the request only checks the envelope.
/// - If `Output` is an optional, it's `nil` if the model is null or missing.
/// - If `Output` is `Data` or `HTTPResponse`, it's the whole body or response, including the envelope.
///
/// Streamed bodies aren't checked. A body in a file is checked only if its `Content-Type` is JSON and it has at most 1
/// MiB.
public protocol EnvelopedRequest<Envelope>: Request {
    /// The envelope's type.
    associatedtype Envelope: ResponseEnvelope
}

extension EnvelopedRequest {
    /// A check of the envelope: ``Errand/ResponseCheck/envelope(_:method:)``. `nil` for streamed responses.
    public var outcomeCheck: ResponseCheck? {
        delivery == .stream ? nil : .envelope(Envelope.self, method: method)
    }
}

extension EnvelopedRequest where Output: Decodable {
    /// Returns the model in the envelope.
    public func decode(_ response: HTTPResponse) async throws -> Output { try response.content(of: Envelope.self) }
}

extension EnvelopedRequest where Output == String {
    /// Returns the text in the envelope.
    public func decode(_ response: HTTPResponse) async throws -> Output { try response.content(of: Envelope.self) }
}

extension EnvelopedRequest where Output == Data {
    /// Returns the bytes of the whole body, including the envelope.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.data }
}

extension EnvelopedRequest where Output == URL {
    /// Returns the URL of the file that contains the body. If the body isn't in a file, returns the URL in the
    /// envelope.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        try response.body.file ?? response.content(of: Envelope.self)
    }
}
