public import Errand
public import ErrandEssentials

/// A bearer token (RFC 6750) with its expiry and its refresh token.
///
/// ```swift
/// let token = BearerToken(access, expiry: Date(timeIntervalSinceNow: 3600), refreshToken: refresh)
/// ```
///
/// You can decode a token from its own encoding or from an OAuth server's response (RFC 6749, section 5.1). See
/// ``init(from:)`` and ``renewing(_:)``.
public struct BearerToken: Credential, Hashable, Codable {
    enum CodingKeys: CodingKey { case token, expiry, refreshToken, owner, scope }
    private enum ResponseKeys: CodingKey { case access_token, accessToken }

    /// The token for the `Authorization` header.
    public var token: String
    /// When to refresh the token. Defaults to nil, which means that only the server knows.
    public var expiry: Date?
    /// The refresh token, which gets the next access token. Defaults to nil.
    public var refreshToken: String?
    /// The token's user, for example an ID. Defaults to nil. See ``Credential/owner``.
    public var owner: String?
    /// The token's scope, separated by spaces. Defaults to nil, which means the requested scope.
    public var scope: String?

    /// Creates a token. Without an `expiry`, requests use the token until the server refuses it.
    public init(
        _ token: String, expiry: Date? = nil, refreshToken: String? = nil, owner: String? = nil, scope: String? = nil
    ) {
        (self.token, self.expiry, self.refreshToken) = (token, expiry, refreshToken)
        (self.owner, self.scope) = (owner, scope)
    }

    /// Sets the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) { request.headers.authorize(.bearer(token)) }
    /// Returns whether the request carries the refresh token.
    public func isRenewed(by request: HTTPRequest) -> Bool { refreshToken.map(request.carries) ?? false }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme and the expiry, with a masked token.
    public var description: String {
        "Bearer \(Redaction.mask)" + (expiry.map { ", until \($0)" } ?? "")
    }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror that shows only the expiry.
    public var customMirror: Mirror { Mirror(self, children: ["expiry": expiry as Any]) }
}

extension BearerToken {
    /// Decodes an encoded token, or an OAuth server's response (RFC 6749, section 5.1) with `access_token`,
    /// `token_type`, `expires_in`, `refresh_token` and `scope`.
    ///
    /// ```swift
    /// let token = try await agent.send(Call<BearerToken>(.post, "token")).value
    /// ```
    ///
    /// The token expires `expires_in` seconds from now, by the device's clock. ``TokenResponse`` describes the accepted
    /// deviations from the standard. For example, a blank `refresh_token` counts as missing.
    ///
    /// Throws a `DecodingError` if the token is missing or empty. Also throws if `token_type` isn't `Bearer`, because a
    /// client must not use tokens of a type that it doesn't know (RFC 6749, section 7.1).
    public init(from decoder: any Decoder) throws {
        let reply = try decoder.container(keyedBy: ResponseKeys.self)
        let own = try decoder.container(keyedBy: CodingKeys.self)
        // A server's response may also have a member `token`, so look for the standard's names first.
        if reply.contains(.access_token) || reply.contains(.accessToken) || !own.contains(.token) {
            let response = try TokenResponse(from: decoder)
            if let type = response.tokenType, type.lowercased() != "bearer" {
                let found = type.prefix(40).debugDescription
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription: "expected the token_type Bearer, found \(found)"))
            }
            self.init(
                response.accessToken,
                expiry: response.lifetime.map { Date(timeIntervalSinceNow: $0 / .seconds(1)) },
                refreshToken: response.refreshToken, scope: response.scope)
            return
        }
        guard let token = try Optional(own.decode(String.self, forKey: .token)).unlessBlank else {
            throw DecodingError.dataCorruptedError(
                forKey: .token, in: own, debugDescription: "expected a token, found an empty text")
        }
        self.init(
            token, expiry: try own.decodeIfPresent(Date.self, forKey: .expiry),
            refreshToken: try own.decodeIfPresent(String.self, forKey: .refreshToken),
            owner: try own.decodeIfPresent(String.self, forKey: .owner),
            scope: try own.decodeIfPresent(String.self, forKey: .scope))
    }

    /// Returns a copy of this token that takes a missing or empty refresh token, scope or owner from the old token. If
    /// a server doesn't send a new refresh token, the old refresh token remains valid (RFC 6749, section 6).
    ///
    /// ```swift
    /// let new = BearerToken("b").renewing(BearerToken("a", refreshToken: "r"))  // b with the refresh token r
    /// ```
    public func renewing(_ old: BearerToken) -> BearerToken {
        BearerToken(
            token, expiry: expiry, refreshToken: refreshToken.unlessBlank ?? old.refreshToken,
            owner: owner.unlessBlank ?? old.owner, scope: scope.unlessBlank ?? old.scope)
    }
}
