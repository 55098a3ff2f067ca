import Errand
import ErrandDigests
import ErrandEssentials
import ErrandMessageSyntax

/// A successful response of a token endpoint (RFC 6749, section 5.1).
struct TokenReply: Decodable {
    let accessToken: String
    let kind: OAuthToken.Kind
    /// Seconds. Nil if it isn't known; zero or less counts as unknown, because servers send it for tokens that don't
    /// expire.
    let lifetime: Double?
    let refreshToken: String?
    let scope: String?
    let idToken: String?

    private enum CodingKeys: String, CodingKey {
        case access_token, token_type, expires_in, refresh_token, scope, id_token
    }

    /// Longer times make no difference, and their dates may not be encodable.
    private static let longest = Duration.seconds(Int64.max).bounded / .seconds(1)
    private static let maximumTokenBytes = 256 << 10

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func fault(_ key: CodingKeys, _ text: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: members, debugDescription: text)
        }
        /// Returns a token, or nil if it's missing or empty.
        func token(_ key: CodingKeys) throws -> String? {
            guard let text = try members.decodeIfPresent(String.self, forKey: key), !text.isEmpty else { return nil }
            // RFC 6749, appendix A: visible characters and spaces. Others could add header fields.
            guard text.utf8.count <= Self.maximumTokenBytes, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }),
                text.utf8.contains(where: { $0 != 0x20 })
            else { throw fault(key, "expected a token") }
            return text
        }
        guard let access = try token(.access_token) else { throw fault(.access_token, "expected a token") }
        accessToken = access
        refreshToken = try token(.refresh_token)
        idToken = try token(.id_token)
        scope = try members.decodeIfPresent(String.self, forKey: .scope).flatMap { $0.isEmpty ? nil : $0 }
        // The type must be known (section 7.1). Some servers leave it out.
        switch try members.decodeIfPresent(String.self, forKey: .token_type)?.lowercased() {
        case nil, "bearer": kind = .bearer
        case "dpop": kind = .dpop
        default: throw fault(.token_type, "expected Bearer or DPoP")
        }
        lifetime = try Self.lifetime(in: members)
    }

    private static func lifetime(in members: KeyedDecodingContainer<CodingKeys>) throws -> Double? {
        let key = CodingKeys.expires_in
        guard members.contains(key), try !members.decodeNil(forKey: key) else { return nil }
        var seconds = try? members.decode(Double.self, forKey: key)
        if seconds == nil {
            // Some servers put the number in quotes. `Double` would also read names and hexadecimal digits.
            let text = try members.decode(String.self, forKey: key)
            seconds = text.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") } ? Double(text) : nil
        }
        guard let seconds, seconds.isFinite else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: members, debugDescription: "expected a number of seconds")
        }
        return seconds > 0 ? min(seconds, longest) : nil
    }

    func token(at date: Date) -> OAuthToken {
        OAuthToken(
            accessToken, kind: kind, expiry: lifetime.map { date.addingTimeInterval($0) }, refreshToken: refreshToken,
            scope: scope, idToken: idToken)
    }
}

/// The claims of an ID token that a client checks (OpenID Connect Core 1.0, section 3.1.3.7).
///
/// The signature isn't verified: the token came from the token endpoint over TLS, for which the section allows this.
struct IDTokenClaims: Decodable {
    let iss: String
    let sub: String
    let aud: Audience
    let nonce: String?

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

    /// - Parameter nonce: The nonce of the sign-in, or nil after a refresh.
    func check(issuer: String, client: String, nonce: String?) throws(OAuthError) {
        guard iss == issuer else {
            throw OAuthError(.issuerMismatch, "the ID token comes from another issuer")
        }
        guard aud.names.contains(client) else {
            throw OAuthError(.invalidResponse, "the ID token is meant for another client")
        }
        guard nonce == nil || self.nonce == nonce else {
            throw OAuthError(.stateMismatch, "the ID token belongs to another sign-in")
        }
    }
}
