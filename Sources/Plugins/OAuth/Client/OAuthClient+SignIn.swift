import Errand
import ErrandEssentials
import ErrandMessageSyntax

extension OAuthClient {
    /// Signs a user in with a browser. Uses an authorization code (RFC 6749, section 4.1) with PKCE (RFC 7636).
    ///
    /// ```swift
    /// let token = try await client.signIn(scope: "openid profile", browser: LoopbackBrowser())
    /// ```
    ///
    /// The client redeems the code only if the redirect goes to the redirect URI, belongs to this sign-in, and comes
    /// from the issuer (RFC 9207). If the server has an endpoint for pushed authorization requests, the client sends
    /// the parameters to this endpoint and not through the browser (RFC 9126).
    ///
    /// - Parameters:
    ///   - scope: The scope, separated by spaces. With `openid`, the token identifies the user. Defaults to nil, which
    ///     means the server's default.
    ///   - browser: Shows the server's page and receives the redirect.
    ///   - parameters: Additional parameters for the page, such as `prompt` or `login_hint`. Defaults to no parameters.
    ///
    /// Throws ``OAuthError``, for example `accessDenied`, `stateMismatch`, `issuerMismatch` or `signInCancelled`.
    public func signIn(
        scope: String? = nil, browser: any OAuthBrowser, parameters: [String: String] = [:]
    ) async throws -> OAuthToken {
        let server = try await server()
        guard server.supportsPKCE else {
            throw OAuthError(.unsupported, "the server doesn't support PKCE with S256")
        }
        let usesOpenID = scope?.split(separator: " ").contains("openid") ?? false
        let attempt = SignInAttempt(scope: scope, usesOpenID: usesOpenID)
        let page = SignInPage(isAnsweredBy: { AuthorizationRedirect.state(in: $0) == attempt.state }) { redirectURI in
            try await self.page(of: attempt, at: server, redirectURI: redirectURI, parameters: parameters)
        }
        let redirect = try await browser.redirect(from: page)
        guard let redirectURI = attempt.redirectURI else {
            throw OAuthError(.browserFailed, "the browser returned a redirect before it asked for the page's URL")
        }
        let code = try AuthorizationRedirect.code(
            in: redirect, to: redirectURI, state: attempt.state, server: server, hiding: attempt.secrets)
        let form = [
            (name: "grant_type", value: "authorization_code"), ("code", code), ("redirect_uri", redirectURI),
            ("code_verifier", attempt.pkce.verifier),
        ]
        return try await token(for: form, hiding: attempt.secrets + [code], nonce: attempt.nonce)
    }

    private func page(
        of attempt: SignInAttempt, at server: OAuthServer, redirectURI: String, parameters: [String: String]
    ) async throws -> URL {
        guard attempt.begin(redirectURI) else {
            throw OAuthError(.browserFailed, "the browser asked for the page's URL twice")
        }
        let page = try Endpoint(server.authorizationEndpoint, "authorization endpoint").url
        var items = attempt.items(redirectURI)
        if let dpop { items.append(("dpop_jkt", try dpop.thumbprint())) }
        try Self.add(parameters, to: &items)
        if let url = server.pushedAuthorizationRequestEndpoint {
            let endpoint = try Endpoint(url, "endpoint for pushed authorization requests")
            let data = try await post(items, to: endpoint, hiding: attempt.secrets).data
            // RFC 9126, section 2.2.
            guard let pushed = try? JSONDecoder().decode(PushedRequest.self, from: data), !pushed.request_uri.isEmpty
            else {
                throw OAuthError(
                    .invalidResponse, "the response to the pushed authorization request has no request_uri")
            }
            items = [("request_uri", pushed.request_uri)]
        }
        return try Self.adding([("client_id", id)] + items, to: page)
    }

    private static func adding(_ items: [(name: String, value: String)], to page: URL) throws(OAuthError) -> URL {
        let text = page.absoluteString
        let query = items.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }
        guard let url = URL(string: text + (text.contains("?") ? "&" : "?") + query.joined(separator: "&")) else {
            throw OAuthError(.invalidServer, "the authorization endpoint isn't a URL")
        }
        return url
    }
}

private struct PushedRequest: Decodable { let request_uri: String }
