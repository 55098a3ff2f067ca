public import Errand
public import ErrandEssentials

/// The credential of a request: a token, a pair of tokens, a key that signs.
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
/// ``BearerToken`` is a ready-made one, and an ``Errand/Authorization`` is one for credentials that do not change.
/// Everything that a credential adds to the headers is sensitive: logs mask it, and a redirect to another origin
/// removes it. Caches keep users apart by all that it adds, in the headers or elsewhere.
public protocol Credential: Sendable {
    /// Adds itself to a request, once for each request on the wire. If it throws, the request throws the error, and
    /// nothing is sent.
    func authorize(_ request: inout HTTPRequest) throws
    /// The date from which on it is useless, so that it is refreshed before a request is sent; nil, the default, if
    /// only the server knows it.
    var expiry: Date? { get }
    /// The owner, for example the id of the user: the same for each credential that a user gets, so that responses that
    /// a cache has stored are found with the next one, and another for each user. Nil, the default, if the parts that
    /// the credential adds to a request tell users apart. A credential that signs each request with its time needs an
    /// owner to find anything in a cache.
    var owner: String? { get }
    /// Whether a request is the one that gets the next credential, for example because it carries a refresh token;
    /// false by default. Called while a refresh runs: such a request is sent without this credential and waits for no
    /// refresh, even from a task or a queue that does not carry the handler's mark.
    ///
    /// ```swift
    /// func isRenewed(by request: HTTPRequest) -> Bool { request.carries(refresh) }
    /// ```
    func isRenewed(by request: HTTPRequest) -> Bool
}

extension Credential {
    /// Nil: the server decides.
    public var expiry: Date? { nil }
    /// Nil: the added parts tell users apart.
    public var owner: String? { nil }
    /// False.
    public func isRenewed(by request: HTTPRequest) -> Bool { false }
}

/// A credential whose added parts are all known before there is a request.
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
