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

    var isSigned: Bool { if case .privateKey = method { true } else { false } }

    /// Sends only the client's ID. Use it in apps that you distribute, because such apps can't keep a secret.
    public static let none = ClientAuthentication(method: .none)

    /// Sends the ID and the secret in the `Authorization` header (`client_secret_basic`).
    public static func basic(secret: String) -> ClientAuthentication {
        ClientAuthentication(method: .basic(secret: secret))
    }

    /// Sends the ID and the secret in the body (`client_secret_post`), for servers that don't support `basic`.
    public static func post(secret: String) -> ClientAuthentication {
        ClientAuthentication(method: .post(secret: secret))
    }

    /// Sends an assertion signed with the client's key (`private_key_jwt`; RFC 7523, section 2.2). Each assertion is
    /// valid for one minute.
    ///
    /// - Parameters:
    ///   - key: The client's private key. Register its public key at the server.
    ///   - keyID: The key's ID at the server. Defaults to nil, which sends no ID.
    ///   - algorithm: The signature algorithm. Defaults to nil, which means the key's preferred algorithm.
    ///   - audience: The audience of the assertion. Defaults to nil, which means the issuer. Some servers expect the
    ///     URL of their token endpoint instead.
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
    /// The name of the method, without secrets.
    public var description: String {
        switch method {
        case .none: "none"
        case .basic: "client_secret_basic"
        case .post: "client_secret_post"
        case .privateKey: "private_key_jwt"
        }
    }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

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

    static func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }
}

/// RFC 7523, section 3.
struct AssertionClaims: Encodable {
    let iss: String
    let sub: String
    let aud: String
    let jti: String
    let iat: Int64
    let exp: Int64
}
