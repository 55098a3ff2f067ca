public import Errand
public import ErrandEssentials

/// Signs requests, as ``HTTPMessageSigner`` and ``AWSRequestSigner`` do. To sign in another scheme, write a type that
/// conforms to this protocol, and pass it to `.signing`:
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
/// ``SigningFilter`` does the rest:
///
/// - It signs each attempt and each redirect, but only for trusted origins.
/// - It corrects the date if the server's clock differs.
/// - It keeps users apart in caches.
/// - It masks the added fields in logs.
public protocol RequestSigner: Sendable {
    /// A description of the scheme for `agent.explain`. It must not contain a secret.
    var explanation: String { get }
    /// The names of added fields that logs may show. Logs mask all other fields that the signer adds or changes.
    /// Defaults to no fields.
    var plainFields: Set<HTTPHeaderName> { get }
    /// Returns a text that identifies the key's owner to caches, such as the key's ID. The text must differ between
    /// users, and always be the same for one user. The default returns nil, so no request finds a cached response.
    func owner() async throws -> String?
    /// Signs a request. The filter calls this method for each attempt and each redirect, with the unsigned request.
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
    /// Signs the request if its origin is trusted. This is the default.
    case on
    /// Doesn't sign the request.
    case off

    /// ``SigningMode/on``.
    public static var defaultValue: SigningMode { .on }
    /// True, because responses may depend on the signature. Calls with different modes therefore don't share a
    /// response.
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
