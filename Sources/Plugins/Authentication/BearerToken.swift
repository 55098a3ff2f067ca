public import Errand
public import ErrandEssentials

/// A bearer token (RFC 6750) with everything that the next one requires.
///
/// ```swift
/// let token = BearerToken(access, expiry: Date(timeIntervalSinceNow: 3600), refreshToken: refresh)
/// ```
///
/// It is decoded from the response of an OAuth server (RFC 6749, section 5.1) as well as from its own encoding: see
/// ``init(from:)`` and ``renewing(_:)``.
public struct BearerToken: Credential, Hashable, Codable {
    enum CodingKeys: CodingKey { case token, expiry, refreshToken, owner, scope }

    /// The token in the `Authorization` header.
    public var token: String
    /// The date from which on it is refreshed before a request is sent; nil, the default, if only the server knows it.
    public var expiry: Date?
    /// The token for the request that gets the next one; nil by default.
    public var refreshToken: String?
    /// The user, for example an id; nil by default. See ``Credential/owner``.
    public var owner: String?
    /// The scope of the token, as an OAuth server names it, separated by spaces; nil, the default, if it is the
    /// requested one.
    public var scope: String?

    /// Makes a token.
    public init(
        _ token: String, expiry: Date? = nil, refreshToken: String? = nil, owner: String? = nil, scope: String? = nil
    ) {
        (self.token, self.expiry, self.refreshToken) = (token, expiry, refreshToken)
        (self.owner, self.scope) = (owner, scope)
    }

    /// Sets the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) { request.headers.authorize(.bearer(token)) }
    /// Whether the request carries the refresh token.
    public func isRenewed(by request: HTTPRequest) -> Bool { refreshToken.map(request.carries) ?? false }
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
