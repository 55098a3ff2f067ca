import Errand
import ErrandDigests
import ErrandEssentials

/// The checked claims of an ID token (OpenID Connect Core 1.0, section 3.1.3.7). The section allows skipping the
/// signature, because the token came from the token endpoint over TLS. The dates aren't checked, because many devices
/// have wrong clocks.
struct IDTokenClaims: Decodable {
    let iss: String
    let sub: String
    let aud: Audience
    let nonce: String?
    let azp: String?

    struct Audience: Decodable {
        let names: [String]

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let one = try? value.decode(String.self) {
                names = [one]
            } else {
                names = try value.decode([String].self)
            }
        }
    }

    init(_ token: String) throws(OAuthError) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.bytes(String(parts[1])),
            let claims = try? JSONDecoder().decode(IDTokenClaims.self, from: Data(bytes)), !claims.sub.isEmpty
        else { throw OAuthError(.invalidResponse, "the ID token isn't a signed token with an issuer and a subject") }
        self = claims
    }

    func check(issuer: String, client: String, nonce: String?) throws(OAuthError) {
        guard iss == issuer else {
            throw OAuthError(.issuerMismatch, "the ID token comes from another issuer")
        }
        guard aud.names.contains(client) else {
            throw OAuthError(.invalidResponse, "the ID token's audience doesn't include this client")
        }
        guard ServerText.given(azp) == nil || azp == client else {
            throw OAuthError(.invalidResponse, "the ID token's authorized party (azp) is another client")
        }
        guard nonce == nil || self.nonce == nonce else {
            throw OAuthError(.stateMismatch, "the ID token's nonce differs from this sign-in's nonce")
        }
    }
}
