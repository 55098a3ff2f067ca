public import Errand
public import ErrandEssentials

/// Signs requests by one scheme. ``HTTPMessageSigner`` and ``AWSRequestSigner`` conform to it. Conform to it for any
/// other gateway, and pass the signer to `.signing`.
///
/// ```swift
/// struct GatewaySigner: RequestSigner {
///     let key: HMACKey
///     var explanation: String { "the gateway's signature" }
///     func owner() async throws -> String? { "app" }
///
///     func sign(_ request: inout HTTPRequest, at date: Date) async throws {
///         let message = Data("\(request.method)\n\(request.urlText)".utf8)
///         let code = try key.signature(of: message)
///         request.headers.set("X-Gateway-Signature", code.base64EncodedString(), sensitive: true)
///     }
/// }
/// ```
///
/// The filter takes care of the rest: which origins get a signature, each attempt and hop, the clock, users, and
/// masking.
public protocol RequestSigner: Sendable {
    /// A short description of the scheme for `agent.explain`. Must not contain a secret.
    var explanation: String { get }
    /// The fields that the signer adds and that logs may show. All other fields that it adds or changes are sensitive.
    /// Empty by default.
    var plainFields: Set<HTTPHeaderName> { get }
    /// Returns a text that identifies the key's owner, such as the key's ID, so caches keep users apart. It must stay
    /// the same as long as the key belongs to the same user, and differ between users. Nil by default: each signature
    /// counts as another user, and no request finds a cached response.
    func owner() async throws -> String?
    /// Adds the signature to a request. Called for each request on the wire, with the request as it is without a
    /// signature.
    ///
    /// - Parameters:
    ///   - request: The request. The signer may change its fields and its body.
    ///   - date: The date of the agent's time source, corrected by what the server has said.
    func sign(_ request: inout HTTPRequest, at date: Date) async throws
    /// Returns a signer for one more attempt after a response that asks for another signature. Nil by default.
    func revised(after response: HTTPResponse) throws -> (any RequestSigner)?
}

extension RequestSigner {
    /// The default implementation returns no fields, so logs mask all that the signer adds.
    public var plainFields: Set<HTTPHeaderName> { [] }
    /// The default implementation returns nil: each signature counts as another user.
    public func owner() async throws -> String? { nil }
    /// The default implementation returns nil: no other attempt is made.
    public func revised(after response: HTTPResponse) throws -> (any RequestSigner)? { nil }
}

/// Specifies whether a request is signed.
///
/// ```swift
/// struct GetStatus: Request {
///     var path: String { "status" }
///     var tags: Tags { Tags().with(SigningMode.self, .off) }
/// }
/// ```
public enum SigningMode: TagKey, Sendable, Hashable {
    /// Signs the request, if its origin may see a signature. The default.
    case on
    /// Sends the request without a signature.
    case off

    /// The value for calls without this tag: ``SigningMode/on``.
    public static var defaultValue: SigningMode { .on }
    /// Returns true, because the signature can change the response: calls with different modes don't share one.
    public static var affectsResponse: Bool { true }
}

extension CallOptions {
    /// Returns a copy of these options with another signing mode.
    public func signing(_ mode: SigningMode) -> CallOptions {
        var options = self
        options.tags[SigningMode.self] = mode
        return options
    }
}
