import Errand
import ErrandAuthentication
import ErrandEssentials

extension OAuthClient {
    /// Gets a token for the client itself, without a user (RFC 6749, section 4.4).
    ///
    /// ```swift
    /// let session = OAuthSession(client) { try await $0.clientToken(scope: "reports") }
    /// ```
    ///
    /// - Parameters:
    ///   - scope: The scope, separated by spaces. Defaults to nil, which means the server's default.
    ///   - parameters: Additional parameters, such as an audience. Defaults to no parameters.
    ///
    /// Throws ``OAuthError`` if the server refuses or the request fails.
    public func clientToken(scope: String? = nil, parameters: [String: String] = [:]) async throws -> OAuthToken {
        var form = [(name: "grant_type", value: "client_credentials")]
        if let scope { form.append(("scope", scope)) }
        try Self.add(parameters, to: &form)
        return try await token(for: form, hiding: [])
    }

    /// Exchanges the refresh token for a new token (RFC 6749, section 6). If the server leaves out a part, such as the
    /// refresh token, the new token keeps the old token's part.
    ///
    /// If the response is lost, the client sends the request once more. The server may have replaced the refresh token
    /// already, but many servers still accept the old refresh token for a short time.
    ///
    /// Throws ``OAuthError``: `invalidGrant` if the refresh token is no longer valid, `userMismatch` if the new ID
    /// token names another user, `noToken` without a refresh token.
    public func refresh(_ token: OAuthToken) async throws -> OAuthToken {
        guard let refreshToken = token.refreshToken else {
            throw OAuthError(.noToken, "the token has no refresh token")
        }
        let form = [(name: "grant_type", value: "refresh_token"), ("refresh_token", refreshToken)]
        let new: OAuthToken
        do { new = try await self.token(for: form, hiding: token.secrets) } catch let error as OAuthError
            where error.code == .requestFailed && error.isRetryable
        {
            new = try await self.token(for: form, hiding: token.secrets)
        }
        // OpenID Connect Core 1.0, section 12.2.
        guard token.owner == nil || new.owner == nil || token.owner == new.owner else {
            throw OAuthError(.userMismatch, "the new token belongs to another user")
        }
        return new.renewing(token)
    }

    /// Revokes a token at the server (RFC 7009). Sends the refresh token if there is one, otherwise the access token.
    /// When servers revoke a refresh token, they usually also revoke its access tokens. A token that the server doesn't
    /// know counts as revoked.
    ///
    /// Throws ``OAuthError``, for example `unsupported` if the server can't revoke tokens.
    public func revoke(_ token: OAuthToken) async throws {
        let endpoint = try Endpoint(try await server().revocationEndpoint, "revocation endpoint")
        let form =
            token.refreshToken.map { [(name: "token", value: $0), ("token_type_hint", "refresh_token")] }
            ?? [(name: "token", value: token.accessToken), ("token_type_hint", "access_token")]
        _ = try await post(form, to: endpoint, hiding: token.secrets)
    }

    func token(
        for form: [(name: String, value: String)], hiding secrets: [String], nonce: String? = nil
    ) async throws -> OAuthToken {
        let endpoint = try Endpoint(try await server().tokenEndpoint, "token endpoint", hasProof: true)
        let reply = try await post(form, to: endpoint, hiding: secrets)
        let elapsed = reply.sent.duration(to: time.now)
        let response: TokenResponse
        do { response = try JSONDecoder().decode(TokenResponse.self, from: reply.data) } catch {
            throw OAuthError(.invalidResponse, "the response has no usable token: \(error.briefDescription)")
        }
        // RFC 6749, section 7.1, requires a known type. Some servers leave it out.
        guard let kind = OAuthToken.Kind(tokenType: response.tokenType ?? "bearer") else {
            throw OAuthError(.invalidResponse, "the response has no usable token: expected the type Bearer or DPoP")
        }
        guard kind == (dpop == nil ? .bearer : .dpop) else {
            throw OAuthError(
                .tokenTypeMismatch, "expected a \(dpop == nil ? "Bearer" : "DPoP") token, got a \(kind) token")
        }
        var token = OAuthToken(
            response.accessToken, kind: kind,
            expiry: response.lifetime.map { time.date.addingTimeInterval(($0 - elapsed) / .seconds(1)) },
            refreshToken: response.refreshToken, scope: response.scope, idToken: response.idToken)
        if let idToken = token.idToken {
            let claims = try IDTokenClaims(idToken)
            try claims.check(issuer: issuer, client: id, nonce: nonce)
            token.owner = claims.sub
        }
        return token
    }

    private static let reserved: Set<String> = [
        "client_id", "client_secret", "client_assertion", "client_assertion_type", "code", "code_challenge",
        "code_challenge_method", "code_verifier", "device_code", "dpop_jkt", "grant_type", "nonce", "redirect_uri",
        "refresh_token", "request", "request_uri", "response_mode", "response_type", "scope", "state",
    ]

    static func add(
        _ parameters: [String: String], to form: inout [(name: String, value: String)]
    ) throws(OAuthError) {
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            guard !reserved.contains(name) else {
                throw OAuthError(
                    .invalidParameter, "the client sets the parameter \(name) itself; remove it from your parameters")
            }
            form.append((name, value))
        }
    }
}
