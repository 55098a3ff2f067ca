public import Errand
public import ErrandAuthentication
public import ErrandEssentials

/// An access token, along with everything needed to renew it.
///
/// Encode it only to store it: the encoding contains the tokens. Descriptions mask them.
public struct OAuthToken: Credential, Hashable, Codable {
    /// How a request proves that it may use an access token.
    public enum Kind: String, Sendable, Hashable, Codable, CustomStringConvertible {
        /// Whoever has the token can use it (RFC 6750).
        case bearer = "Bearer"
        /// Each request also needs a proof by a key (RFC 9449).
        case dpop = "DPoP"

        /// The scheme in the `Authorization` header, such as "Bearer".
        public var description: String { rawValue }

        /// The kind of a `token_type`, in any case, or nil for another type.
        init?(tokenType: String) {
            switch tokenType.lowercased() {
            case "bearer": self = .bearer
            case "dpop": self = .dpop
            default: return nil
            }
        }
    }

    /// The access token, which is sent in the `Authorization` header.
    public var accessToken: String
    /// Whether requests only carry the token, or also a proof.
    public var kind: Kind
    /// The date from which the token is renewed before a request is sent, or nil if only the server knows it.
    public var expiry: Date?
    /// The token that renews the access token, or nil if the server didn't send one.
    public var refreshToken: String?
    /// The scope of the token, separated by spaces, or nil if the server didn't name it.
    public var scope: String?
    /// The ID token of OpenID Connect, if the server sent one. Its signature isn't verified, because it came from the
    /// token endpoint; don't accept it from others without verifying it.
    public var idToken: String?
    /// The user: the subject of the ID token, if there is one. See `Credential.owner`.
    public var owner: String?

    /// Creates a token from its parts, which default to nil.
    public init(
        _ accessToken: String, kind: Kind = .bearer, expiry: Date? = nil, refreshToken: String? = nil,
        scope: String? = nil, idToken: String? = nil, owner: String? = nil
    ) {
        (self.accessToken, self.kind, self.expiry) = (accessToken, kind, expiry)
        (self.refreshToken, self.scope) = (refreshToken, scope)
        (self.idToken, self.owner) = (idToken, owner)
    }

    /// Adds the token to a request, in the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) {
        request.headers.authorize(.custom(scheme: kind.rawValue, credentials: accessToken))
    }

    /// Returns whether the request carries the refresh token.
    public func isRenewed(by request: HTTPRequest) -> Bool { refreshToken.map(request.carries) ?? false }

    func isExpired(at date: Date) -> Bool { expiry.map { $0 <= date } ?? false }

    /// The tokens, to keep them out of descriptions.
    var secrets: [String] { [accessToken, refreshToken, idToken].compactMap(\.self) }

    /// Returns this token with missing or blank parts taken from the token that it renews (RFC 6749, section 6).
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
    /// The kind and the expiry, with masked tokens.
    public var description: String {
        "\(kind) \(Redaction.mask)" + (expiry.map { ", until \($0)" } ?? "")
    }
    /// The same text as `description`, so a dump doesn't reveal tokens.
    public var debugDescription: String { description }
    /// A mirror that shows only the kind and the expiry, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind, "expiry": expiry as Any]) }
}
