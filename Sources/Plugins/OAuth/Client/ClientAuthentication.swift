import ErrandDigests
import ErrandEssentials
public import ErrandKeys

/// How a client proves its identity to the server (RFC 6749, section 2.3).
///
/// ```swift
/// let server = OAuthClient(
///     issuer: "https://id.example.com", id: "reports", authentication: .basic(secret: secret), transport: .system)
/// ```
public struct ClientAuthentication: Sendable {
    enum Method: Sendable {
        case none
        case basic(secret: String)
        case post(secret: String)
        case privateKey(any KeySigner, algorithm: KeyAlgorithm, keyID: String?, audience: String?)
    }

    let method: Method

    /// Whether requests carry a signed assertion.
    var isSigned: Bool { if case .privateKey = method { true } else { false } }

    /// Sends the client's ID only. For apps, which can't keep a secret.
    public static let none = ClientAuthentication(method: .none)

    /// Sends the ID and the secret in the `Authorization` header (`client_secret_basic`).
    public static func basic(secret: String) -> ClientAuthentication {
        ClientAuthentication(method: .basic(secret: secret))
    }

    /// Sends the ID and the secret in the body (`client_secret_post`). For servers that don't support `basic`.
    public static func post(secret: String) -> ClientAuthentication {
        ClientAuthentication(method: .post(secret: secret))
    }

    /// Sends a signed assertion (`private_key_jwt`; RFC 7523, section 2.2). Each is valid for a minute.
    ///
    /// - Parameters:
    ///   - key: The client's key. The server knows the public key.
    ///   - keyID: The ID of the key at the server. Defaults to nil, which leaves it out.
    ///   - algorithm: Defaults to nil, the key's preferred algorithm.
    ///   - audience: Whom the assertion is for. Defaults to nil, the issuer. Some servers expect the URL of their token
    ///     endpoint.
    public static func privateKey(
        _ key: any KeySigner, keyID: String? = nil, algorithm: KeyAlgorithm? = nil, audience: String? = nil
    ) throws(KeyError) -> ClientAuthentication {
        guard let algorithm = algorithm ?? key.algorithms.first, key.algorithms.contains(algorithm) else {
            throw KeyError(.keyMismatch, "the key doesn't support the algorithm")
        }
        return ClientAuthentication(
            method: .privateKey(key, algorithm: algorithm, keyID: keyID, audience: audience))
    }
}

extension ClientAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method's name, without the secret.
    public var description: String {
        switch method {
        case .none: "none"
        case .basic: "client_secret_basic"
        case .post: "client_secret_post"
        case .privateKey: "private_key_jwt"
        }
    }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A JSON Web Token that the client signs (RFC 7519).
enum SignedToken {
    static func make(
        header: String, claims: some Encodable, key: any KeySigner, algorithm: KeyAlgorithm
    ) async throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let input = try Base64URL.text(header.utf8) + "." + Base64URL.text(encoder.encode(claims))
        let signature = try await key.signature(of: Data(input.utf8), by: algorithm)
        return input + "." + Base64URL.text(signature)
    }

    /// Returns JSON for a text.
    static func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }
}

/// The claims of an assertion (RFC 7523, section 3).
struct AssertionClaims: Encodable {
    let iss: String
    let sub: String
    let aud: String
    let jti: String
    let iat: Int64
    let exp: Int64
}
