public import Errand
public import ErrandEssentials

/// The credential of a request: a token, a pair of tokens, or a signing key.
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
/// Use ``BearerToken`` if it fits, or an ``Errand/Authorization`` for credentials that don't change. Every header field
/// that a credential adds is sensitive: logs mask it, and redirects to other origins remove it. Caches separate users
/// by everything the credential adds, in headers or elsewhere.
public protocol Credential: Sendable {
    /// Adds the credential to a request. Called for each request on the wire. If it throws, the request throws the
    /// error without being sent.
    func authorize(_ request: inout HTTPRequest) throws
    /// The date from which the credential is refreshed before a request is sent. Defaults to nil: only the server knows
    /// it.
    var expiry: Date? { get }
    /// The owner, for example the user's ID. It must stay the same when the user's credential is refreshed and differ
    /// between users.
    ///
    /// Responses in a cache are then found with the next credential. Defaults to nil: the parts added to the request
    /// tell users apart. If a credential signs each request with the time, it needs an owner, or no request finds a
    /// cached response.
    var owner: String? { get }
    /// Returns whether a request gets the next credential, for example because it carries a refresh token. Defaults to
    /// false.
    ///
    /// Called during a refresh. Such a request is sent without this credential and doesn't wait for the refresh, even
    /// if it comes from a task or queue that doesn't inherit the handler's context.
    ///
    /// ```swift
    /// func isRenewed(by request: HTTPRequest) -> Bool { request.carries(refresh) }
    /// ```
    func isRenewed(by request: HTTPRequest) -> Bool
}

extension Credential {
    /// Nil: only the server knows it.
    public var expiry: Date? { nil }
    /// Nil: the added parts tell users apart.
    public var owner: String? { nil }
    /// Returns false.
    public func isRenewed(by request: HTTPRequest) -> Bool { false }
}

/// A credential whose added field is known in advance.
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

/// Uses fixed credentials, such as a name and a password.
extension Authorization: Credential {
    /// Sets the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) { request.headers.authorize(self) }
}
