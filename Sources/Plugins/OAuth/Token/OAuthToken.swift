public import Errand
public import ErrandAuthentication
public import ErrandEssentials

/// An access token with its expiry and its refresh token.
///
/// Encode a token only to store it, because the encoding contains the secrets. Descriptions mask the secrets.
public struct OAuthToken: Credential, Hashable, Codable {
    /// How a request proves that it may use the access token.
    public enum Kind: String, Sendable, Hashable, Codable, CustomStringConvertible {
        /// A bearer token: anyone who has the token can use it (RFC 6750).
        case bearer = "Bearer"
        /// A DPoP token: each request also needs a proof that is signed with a key (RFC 9449).
        case dpop = "DPoP"

        /// The scheme in the `Authorization` header, such as "Bearer".
        public var description: String { rawValue }

        init?(tokenType: String) {
            switch tokenType.lowercased() {
            // Apigee calls it BearerToken.
            case "bearer", "bearertoken": self = .bearer
            case "dpop": self = .dpop
            default: return nil
            }
        }
    }

    /// The access token, for the `Authorization` header.
    public var accessToken: String
    /// How requests use the token.
    public var kind: Kind
    /// When to renew the token, or nil if only the server knows.
    public var expiry: Date?
    /// The token that renews the access token, or nil if the server didn't send one.
    public var refreshToken: String?
    /// The token's scope, separated by spaces, or nil if the server didn't send it.
    public var scope: String?
    /// The OpenID Connect ID token, if the server sent one. The client doesn't verify the ID token's signature, because
    /// the ID token came directly from the token endpoint over TLS. Verify ID tokens from other sources.
    public var idToken: String?
    /// The user's ID: the subject of the ID token, if the server sent one. See `Credential.owner`.
    public var owner: String?

    /// Creates a token. Optional parts default to nil.
    public init(
        _ accessToken: String, kind: Kind = .bearer, expiry: Date? = nil, refreshToken: String? = nil,
        scope: String? = nil, idToken: String? = nil, owner: String? = nil
    ) {
        (self.accessToken, self.kind, self.expiry) = (accessToken, kind, expiry)
        (self.refreshToken, self.scope) = (refreshToken, scope)
        (self.idToken, self.owner) = (idToken, owner)
    }

    /// Sets the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) {
        request.headers.authorize(.custom(scheme: kind.rawValue, credentials: accessToken))
    }

    /// Returns whether the request carries the refresh token.
    public func isRenewed(by request: HTTPRequest) -> Bool { refreshToken.map(request.carries) ?? false }

    func isExpired(at date: Date) -> Bool { expiry.map { $0 <= date } ?? false }

    var secrets: [String] { [accessToken, refreshToken, idToken].compactMap(\.self) }

    /// Missing or blank parts come from the old token (RFC 6749, section 6).
    func renewing(_ old: OAuthToken) -> OAuthToken {
        var new = self
        new.refreshToken = ServerText.given(refreshToken) ?? old.refreshToken
        new.scope = ServerText.given(scope) ?? old.scope
        new.idToken = ServerText.given(idToken) ?? old.idToken
        new.owner = ServerText.given(owner) ?? old.owner
        return new
    }
}

extension OAuthToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind and the expiry, with a masked token.
    public var description: String {
        "\(kind) \(Redaction.mask)" + (expiry.map { ", until \($0)" } ?? "")
    }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror that shows only the kind and the expiry.
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind, "expiry": expiry as Any]) }
}
