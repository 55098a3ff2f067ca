public import Errand
public import ErrandEssentials

/// Signs requests. ``HTTPMessageSigner`` and ``AWSRequestSigner`` conform to it. To sign for another gateway, conform
/// to it and pass the signer to `.signing`:
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
/// The filter does the rest: it checks origins, signs each attempt and redirect, corrects the clock, keeps users apart,
/// and masks fields in logs.
public protocol RequestSigner: Sendable {
    /// Describes the scheme in `agent.explain`. Must not contain a secret.
    var explanation: String { get }
    /// The added fields that logs may show. Logs mask all other fields that the signer adds or changes. Defaults to no
    /// fields.
    var plainFields: Set<HTTPHeaderName> { get }
    /// Returns a text that identifies the key's owner to caches, such as the key's ID. It must differ between users,
    /// and stay the same for one user. The default returns nil: no request finds a cached response.
    func owner() async throws -> String?
    /// Signs a request. Called for each request on the wire, with the unsigned request.
    ///
    /// - Parameters:
    ///   - request: The request. The signer may change its fields and its body.
    ///   - date: The current date, by the server's clock if the filter knows it.
    func sign(_ request: inout HTTPRequest, at date: Date) async throws
    /// Returns a signer for another attempt if the response asks for a different signature. The default returns nil.
    func revised(after response: HTTPResponse) throws -> (any RequestSigner)?
}

extension RequestSigner {
    /// No fields.
    public var plainFields: Set<HTTPHeaderName> { [] }
    /// Returns nil.
    public func owner() async throws -> String? { nil }
    /// Returns nil.
    public func revised(after response: HTTPResponse) throws -> (any RequestSigner)? { nil }
}

/// Turns signing on or off for a request.
///
/// ```swift
/// struct GetStatus: Request {
///     var path: String { "status" }
///     var tags: Tags { Tags().with(SigningMode.self, .off) }
/// }
/// ```
public enum SigningMode: TagKey, Sendable, Hashable {
    /// Signs the request if its origin is trusted. The default.
    case on
    /// Doesn't sign the request.
    case off

    /// ``SigningMode/on``.
    public static var defaultValue: SigningMode { .on }
    /// True: responses may depend on the signature, so calls with different modes don't share one.
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
