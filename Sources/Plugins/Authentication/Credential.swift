public import Errand
public import ErrandEssentials

/// What a request is authorized with: a token, a pair of tokens, a key that signs.
///
/// ```swift
/// nonisolated struct Tokens: Credential, Codable {
///     var access: String
///     var refresh: String
///     var expiry: Date?
///
///     func authorize(_ request: inout HTTPRequest) { request.headers.authorize(.bearer(access)) }
/// }
/// ```
///
/// ``BearerToken`` is a ready one, and an ``Errand/Authorization`` is one for what does not change. Whatever a credential
/// adds to the headers is sensitive: logs mask it, and a redirect to another origin removes it. Caches keep users apart by
/// what it adds, in whatever place.
public protocol Credential: Sendable {
    /// Adds itself to a request, once for each request on the wire. What it throws, the request throws, and nothing is sent.
    func authorize(_ request: inout HTTPRequest) throws
    /// From when on it is of no use, so that it is refreshed before a request is sent; nil, the default, where only the
    /// server knows.
    var expiry: Date? { get }
    /// Whose it is, such as the id of the user: the same for each credential that a user gets, so that what a cache has
    /// stored for it is found with the next one, and another for each user. Nil, the default, where what the credential
    /// adds to a request tells users apart. A credential that signs each request with its time needs it to find anything
    /// in a cache.
    var owner: String? { get }
}

extension Credential {
    /// Nil: the server decides.
    public var expiry: Date? { nil }
    /// Nil: what it adds tells users apart.
    public var owner: String? { nil }
}

/// A credential of which all that it adds is known before there is a request.
protocol FixedCredential: Credential {
    var field: HTTPHeaders.Field? { get }
}

extension FixedCredential {
    func fields(of authorization: Authorization) -> HTTPHeaders.Field? {
        var headers = HTTPHeaders()
        headers.authorize(authorization)
        return headers.first
    }
}

extension BearerToken: FixedCredential {
    var field: HTTPHeaders.Field? { fields(of: .bearer(token)) }
}

extension Authorization: FixedCredential {
    var field: HTTPHeaders.Field? { fields(of: self) }
}

/// Credentials that do not change, such as a name and a password.
extension Authorization: Credential {
    /// Sets the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) { request.headers.authorize(self) }
}

/// A bearer token (RFC 6750) with what is needed to get the next one.
///
/// ```swift
/// let token = BearerToken(access, expiry: Date(timeIntervalSinceNow: 3600), refreshToken: refresh)
/// ```
public struct BearerToken: Credential, Hashable, Codable {
    /// The token that goes into the `Authorization` header.
    public var token: String
    /// From when on it is refreshed before a request is sent; nil, the default, where only the server knows.
    public var expiry: Date?
    /// For the request that gets the next token; nil by default.
    public var refreshToken: String?
    /// The user, such as by an id; nil by default. See ``Credential/owner``.
    public var owner: String?

    /// Makes a token.
    public init(
        _ token: String, expiry: Date? = nil, refreshToken: String? = nil, owner: String? = nil
    ) {
        (self.token, self.expiry, self.refreshToken, self.owner) = (token, expiry, refreshToken, owner)
    }

    /// Sets the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) { request.headers.authorize(.bearer(token)) }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme and the expiry, the tokens masked.
    public var description: String {
        "Bearer \(Redaction.mask)" + (expiry.map { ", until \($0)" } ?? "")
    }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// The expiry alone.
    public var customMirror: Mirror { Mirror(self, children: ["expiry": expiry as Any]) }
}
