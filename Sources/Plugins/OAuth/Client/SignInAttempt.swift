import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// Connects a redirect, a code and an ID token to one sign-in.
final class SignInAttempt: Sendable {
    let state = RandomText.make()
    let pkce = PKCE()
    let nonce: String?
    private let scope: String?
    private let begun = Mutex<String?>(nil)

    init(scope: String?, usesOpenID: Bool) {
        self.scope = scope
        nonce = usesOpenID ? RandomText.make() : nil
    }

    var secrets: [String] { [state, pkce.verifier] + (nonce.map { [$0] } ?? []) }

    var redirectURI: String? { begun.withLock { $0 } }

    func begin(_ redirectURI: String) -> Bool {
        begun.withLock { known in
            guard known == nil else { return false }
            known = redirectURI
            return true
        }
    }

    /// RFC 6749, section 4.1.1; RFC 7636, section 4.3.
    func items(_ redirectURI: String) -> [(name: String, value: String)] {
        var items = [
            (name: "response_type", value: "code"), ("redirect_uri", redirectURI), ("state", state),
            ("code_challenge", pkce.challenge), ("code_challenge_method", "S256"),
        ]
        if let scope { items.append(("scope", scope)) }
        if let nonce { items.append(("nonce", nonce)) }
        return items
    }
}

/// Checks a redirect, which any program can send.
enum AuthorizationRedirect {
    private static let maximumBytes = 64 << 10

    static func state(in redirect: String) -> String? {
        let text = redirect.prefix { $0 != "#" }
        guard redirect.utf8.count <= maximumBytes, let mark = text.firstIndex(of: "?") else { return nil }
        return FormEncoding.decode(text[text.index(after: mark)...])?["state"]
    }

    /// Returns the code from a redirect. Checks the address, the state and the issuer first, so an error or a code from
    /// another sign-in isn't accepted.
    static func code(
        in redirect: String, to redirectURI: String, state: String, server: OAuthServer, hiding secrets: [String]
    ) throws(OAuthError) -> String {
        guard redirect.utf8.count <= maximumBytes else {
            throw OAuthError(.invalidRedirect, "the redirect is longer than \(maximumBytes) bytes")
        }
        let text = redirect.prefix { $0 != "#" }
        let address = text.prefix { $0 != "?" }
        let (expected, fixed) = split(redirectURI)
        guard address == expected || normalized(address) == normalized(expected) else {
            throw OAuthError(.invalidRedirect, "the redirect's URL differs from the redirect URI")
        }
        guard let items = FormEncoding.decode(text.dropFirst(address.count + 1)) else {
            throw OAuthError(.invalidRedirect, "the redirect's query is malformed, or a parameter occurs twice")
        }
        // The server keeps the redirect URI's query (RFC 6749, section 3.1.2).
        guard let own = FormEncoding.decode(fixed), own.allSatisfy({ items[$0.key] == $0.value }) else {
            throw OAuthError(.invalidRedirect, "the redirect lacks query items of the redirect URI")
        }
        guard items["state"] == state else {
            throw OAuthError(
                .stateMismatch,
                "the redirect's state differs from this sign-in's state, so it belongs to another sign-in")
        }
        try check(issuer: items["iss"], of: server)
        if let error = ServerText.given(items["error"]) {
            throw ServerFault.error(
                ServerFault(error: error, description: items["error_description"]), status: nil, hiding: secrets)
        }
        guard let code = items["code"], !code.isEmpty else {
            throw OAuthError(.invalidRedirect, "the redirect has no code")
        }
        return code
    }

    /// As browsers write it: the scheme in lower case, and http and https URLs normalized.
    private static func normalized(_ address: Substring) -> String {
        let scheme = address.prefix { $0 != ":" }.lowercased()
        if ["http", "https"].contains(scheme), let url = try? URLReference(String(address)).resolved() {
            return url.absoluteString
        }
        return scheme + address.dropFirst(scheme.count)
    }

    private static func split(_ uri: String) -> (address: Substring, query: Substring) {
        let address = uri.prefix { $0 != "?" }
        return (address, uri.dropFirst(address.count + 1))
    }

    /// RFC 9207, section 2.4.
    private static func check(issuer: String?, of server: OAuthServer) throws(OAuthError) {
        guard issuer == server.issuer || issuer == nil && !server.sendsIssuer else {
            throw OAuthError(
                .issuerMismatch,
                issuer == nil ? "the redirect doesn't name its issuer" : "the redirect comes from another issuer")
        }
    }
}
