public import Errand
import ErrandDigests
public import ErrandEssentials
public import ErrandKeys
import ErrandMessageSyntax
import Synchronization

/// Proves that requests come from a token's owner (DPoP, RFC 9449). The server binds the token to a key. Each request
/// then carries a proof, which is signed with this key.
///
/// ```swift
/// let dpop = try DPoP(key: .generate(.p256))
/// let client = OAuthClient(issuer: "https://id.example.com", id: "app-1", dpop: dpop, transport: .system)
/// ```
///
/// An ``OAuthSession`` with this client adds the proofs. Keep the key as long as you keep the refresh token, because
/// only this key can renew the token.
///
/// The object remembers the nonces and the clock differences of at most 64 servers.
public final class DPoP: Sendable {
    private let signer: any KeySigner
    private let publicKey: PublicKey
    private let algorithm: KeyAlgorithm
    private let nonces = Mutex<[Place: String]>([:])
    let clocks = ServerClocks()

    private static let maximumPlaces = 64
    private static let maximumNonceBytes = 1024

    /// A server can use different nonces for tokens and for resources.
    enum Role: Sendable, Hashable { case authorizationServer, resource }

    private struct Place: Hashable {
        let role: Role
        let origin: String
    }

    /// Creates an object that signs proofs with a key in memory. It uses the key's preferred algorithm. Most servers
    /// support P-256 keys.
    public convenience init(key: PrivateKey) throws(KeyError) {
        try self.init(signer: key, publicKey: key.publicKey)
    }

    /// Creates an object that signs proofs with a key stored elsewhere, such as in hardware.
    ///
    /// - Parameters:
    ///   - signer: Signs the proofs.
    ///   - publicKey: The public key, which each proof contains.
    ///   - algorithm: The signature algorithm. Defaults to nil, which means the key's preferred algorithm.
    ///
    /// Throws `KeyError` if the key doesn't support the algorithm.
    public init(signer: any KeySigner, publicKey: PublicKey, algorithm: KeyAlgorithm? = nil) throws(KeyError) {
        guard let algorithm = algorithm ?? signer.algorithms.first, signer.algorithms.contains(algorithm),
            publicKey.algorithms.contains(algorithm)
        else { throw KeyError(.keyMismatch, "the key doesn't support the algorithm") }
        (self.signer, self.publicKey, self.algorithm) = (signer, publicKey, algorithm)
    }

    /// Returns the key's thumbprint (`jkt`, RFC 7638). Servers bind a token to the key by this thumbprint.
    public func thumbprint() throws(OAuthError) -> String {
        do { return try publicKey.thumbprint() } catch {
            throw OAuthError(.keyFailed, "the key's thumbprint couldn't be computed", underlying: error)
        }
    }

    /// Returns a proof for a request to a protected resource: the value of its `DPoP` field. Use it if you send
    /// requests without an agent.
    ///
    /// - Parameters:
    ///   - request: The request. The proof covers its method and its URL without the query.
    ///   - token: The access token.
    ///   - date: The current date.
    ///
    /// Throws ``OAuthError`` with `keyFailed`.
    public func proof(for request: HTTPRequest, token: String, at date: Date) async throws -> String {
        try await proof(for: request, token: token, at: date, by: .resource)
    }

    func proof(for request: HTTPRequest, token: String?, at date: Date, by role: Role) async throws -> String {
        let nonce = nonces.withLock { $0[Self.place(request.url, role)] }
        let claims = ProofClaims(
            jti: RandomText.make(bytes: 16), htm: request.method.rawValue, htu: Self.target(request.urlText),
            iat: Int64(clocks.date(of: request.url, now: date).timeIntervalSince1970),
            ath: token.map(Self.hash), nonce: nonce)
        let header = #"{"typ":"dpop+jwt","alg":"\#(algorithm.joseName)","jwk":\#(publicKey.jwk)}"#
        do {
            return try await SignedToken.make(header: header, claims: claims, key: signer, algorithm: algorithm)
        } catch  where error.isCancellation { throw error } catch {
            throw OAuthError(.keyFailed, "the proof couldn't be signed", underlying: error)
        }
    }

    /// The `ath` claim (RFC 9449, section 4.2).
    static func hash(_ token: String) -> String { Base64URL.text(SHA256Digest.digest(of: token.utf8)) }

    /// The `htu` claim (RFC 9449, section 4.2), with the authority as it's sent.
    static func target(_ url: String) -> String {
        let target = url.prefix { $0 != "?" && $0 != "#" }
        guard let start = target.firstRange(of: "://")?.upperBound else { return String(target) }
        let authority = target[start...].prefix { $0 != "/" }
        return "\(target[..<start])\(HostName.sentAuthority(String(authority)))\(target[authority.endIndex...])"
    }

    // MARK: Servers

    private static func place(_ url: URL, _ role: Role) -> Place {
        Place(role: role, origin: URLSyntax.origin(of: url))
    }

    /// The next proofs use this nonce (RFC 9449, section 8.2).
    func learn(from response: HTTPResponse, at role: Role) {
        guard let nonce = Self.nonce(in: response) else { return }
        let place = Self.place(response.url, role)
        nonces.withLock { nonces in
            if nonces[place] == nil, nonces.count >= Self.maximumPlaces { nonces.removeAll() }
            nonces[place] = nonce
        }
    }

    func offersNonce(_ response: HTTPResponse) -> Bool { Self.nonce(in: response) != nil }

    private static func nonce(in response: HTTPResponse) -> String? {
        let values = response.headers.values(of: .dpopNonce)
        guard values.count == 1, let nonce = values.first, !nonce.isEmpty, nonce.utf8.count <= maximumNonceBytes,
            // NQCHAR (RFC 9449, section 8.1).
            nonce.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        else { return nil }
        return nonce
    }
}

extension DPoP: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The key's type, without the key.
    public var description: String { "DPoP by a key of type \(publicKey.type)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// RFC 9449, section 4.2.
private struct ProofClaims: Encodable {
    let jti: String
    let htm: String
    let htu: String
    let iat: Int64
    let ath: String?
    let nonce: String?
}
