import Errand
public import ErrandEssentials
import ErrandMessageSyntax

/// The endpoints and features of an authorization server.
///
/// If you create an ``OAuthClient`` with an issuer, the client reads this value from the server's metadata. For a
/// server without metadata, create the value yourself:
///
/// ```swift
/// var server = OAuthServer(issuer: "https://github.com")
/// server.authorizationEndpoint = URL(string: "https://github.com/login/oauth/authorize")
/// server.tokenEndpoint = URL(string: "https://github.com/login/oauth/access_token")
/// let client = OAuthClient(server: server, id: "app-1", transport: .system)
/// ```
public struct OAuthServer: Sendable, Hashable {
    /// The server's identifier: an https URL without a query.
    public let issuer: String
    /// The URL of the page where people sign in (RFC 6749, section 3.1).
    public var authorizationEndpoint: URL?
    /// The endpoint that issues tokens (RFC 6749, section 3.2).
    public var tokenEndpoint: URL?
    /// The endpoint that revokes tokens (RFC 7009).
    public var revocationEndpoint: URL?
    /// The endpoint that starts a sign-in on a device without a browser (RFC 8628).
    public var deviceAuthorizationEndpoint: URL?
    /// The endpoint that receives a sign-in's parameters before the browser opens (RFC 9126). The client uses this
    /// endpoint if you set it.
    public var pushedAuthorizationRequestEndpoint: URL?
    /// Whether a redirect must contain the issuer (RFC 9207). If false, the issuer is optional. Defaults to false.
    public var sendsIssuer = false
    /// Whether the server supports PKCE with S256 (RFC 7636). If false, signing in with a browser fails. Defaults to
    /// true.
    public var supportsPKCE = true

    /// Creates a server without endpoints. Set the endpoints that you need afterwards.
    public init(issuer: String) { self.issuer = issuer }

    /// Reads a server's metadata (RFC 8414; OpenID Connect Discovery 1.0).
    ///
    /// Throws ``OAuthError``: `issuerMismatch` if the metadata belongs to another issuer, or `invalidServer` if it
    /// isn't JSON or an endpoint isn't an https URL.
    public init(metadata: Data, issuer: String) throws(OAuthError) {
        let members: Members
        do { members = try JSONDecoder().decode(Members.self, from: metadata) } catch {
            throw OAuthError(.invalidServer, "the metadata isn't valid: \(error.briefDescription)")
        }
        // RFC 8414, section 3.3, compares without normalization.
        guard members.issuer == issuer else {
            throw OAuthError(
                .issuerMismatch,
                "the metadata of \(ServerText.shown(issuer, hiding: [])) belongs to the issuer "
                    + ServerText.shown(members.issuer, hiding: []))
        }
        self.init(issuer: issuer)
        authorizationEndpoint = try members.endpoint(\.authorization_endpoint, "authorization_endpoint")
        tokenEndpoint = try members.endpoint(\.token_endpoint, "token_endpoint")
        revocationEndpoint = try members.endpoint(\.revocation_endpoint, "revocation_endpoint")
        deviceAuthorizationEndpoint = try members.endpoint(
            \.device_authorization_endpoint, "device_authorization_endpoint")
        pushedAuthorizationRequestEndpoint = try members.endpoint(
            \.pushed_authorization_request_endpoint, "pushed_authorization_request_endpoint")
        sendsIssuer = members.authorization_response_iss_parameter_supported ?? false
        supportsPKCE = members.code_challenge_methods_supported?.contains("S256") ?? true
    }
}

/// Named as in RFC 8414, section 2.
private struct Members: Decodable {
    let issuer: String
    let authorization_endpoint: String?
    let token_endpoint: String?
    let revocation_endpoint: String?
    let device_authorization_endpoint: String?
    let pushed_authorization_request_endpoint: String?
    let authorization_response_iss_parameter_supported: Bool?
    let code_challenge_methods_supported: [String]?

    func endpoint(_ member: KeyPath<Members, String?>, _ name: String) throws(OAuthError) -> URL? {
        guard let text = ServerText.given(self[keyPath: member]) else { return nil }
        return try ServerAddress.endpoint(text, name)
    }
}

enum ServerAddress {
    /// RFC 8414, section 3.1, puts the well-known path before the issuer's path. OpenID Connect puts it after the
    /// issuer's path.
    static func metadata(of issuer: String) throws(OAuthError) -> [URL] {
        _ = try checked(issuer, "the issuer")
        guard !issuer.contains("?"), !issuer.contains("#") else {
            throw OAuthError(.invalidServer, "the issuer URL can't have a query or a fragment")
        }
        let bare = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let end = (try? URLSyntax.check(bare)) ?? bare.utf8.count
        let split = bare.utf8.index(bare.startIndex, offsetBy: end)
        let (origin, rest) = (bare[..<split], bare[split...])
        return [
            try checked("\(origin)/.well-known/oauth-authorization-server\(rest)", "the metadata's URL"),
            try checked("\(bare)/.well-known/openid-configuration", "the metadata's URL"),
        ]
    }

    static func endpoint(_ text: String, _ name: String) throws(OAuthError) -> URL {
        guard !text.contains("#") else { throw OAuthError(.invalidServer, "\(name) has a fragment") }
        return try checked(text, name)
    }

    /// Allows http only for this machine, for development.
    static func checked(_ text: String, _ name: String) throws(OAuthError) -> URL {
        do { try URLSyntax.check(text) } catch {
            throw OAuthError(.invalidServer, "\(name): \(error.description)")
        }
        guard let url = URL(string: text) else { throw OAuthError(.invalidServer, "\(name) isn't a URL") }
        try checkScheme(of: url, name)
        return url
    }

    static func checkScheme(of url: URL, _ name: String) throws(OAuthError) {
        let isLocal = ["127.0.0.1", "::1", "[::1]", "localhost"].contains(url.host?.lowercased() ?? "")
        guard url.scheme?.lowercased() == "https" || isLocal && url.scheme?.lowercased() == "http" else {
            throw OAuthError(.invalidServer, "\(name) isn't an https URL")
        }
    }
}
