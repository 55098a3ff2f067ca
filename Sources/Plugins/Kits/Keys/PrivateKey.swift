public import ErrandEssentials

/// A private key in memory: Ed25519, P-256, P-384, or RSA.
///
/// ```swift
/// let key = try PrivateKey(pem: text)
/// let signature = try key.signature(of: data, by: .ed25519)
/// let isValid = try key.publicKey.isValid(signature, of: data, by: .ed25519)
/// ```
///
/// The initializers check that the key is valid. To keep a generated key, store ``pem`` where only your app can read
/// it.
public struct PrivateKey: KeySigner {
    private let material: PrivateMaterial
    private let platform: PlatformPrivateKey
    /// The public key that belongs to this private key.
    public let publicKey: PublicKey

    private init(_ material: PrivateMaterial) throws(KeyError) {
        self.material = material
        platform = try PlatformPrivateKey(material)
        let point = try platform.publicMaterial()
        guard material.publicPart == nil || material.publicPart == point else {
            throw .malformed("the public part doesn't belong to the private key")
        }
        publicKey = try PublicKey(point)
    }

    /// Reads a PEM key: `PRIVATE KEY` (PKCS #8), `EC PRIVATE KEY` (SEC 1), or `RSA PRIVATE KEY` (PKCS #1).
    ///
    /// Skips other PEM blocks, such as certificates and `EC PARAMETERS`. Throws ``KeyError``, for example if the key is
    /// encrypted.
    public init(pem: String) throws(KeyError) {
        try self.init(try PEM.find(in: pem, "private key", PrivateMaterial.init(label:der:)))
    }

    /// Reads a private JSON Web Key (RFC 7517). Ignores members that don't belong to the key. Throws ``KeyError``.
    public init(jwk: Data) throws(KeyError) { try self.init(try PrivateMaterial(try JWKMembers(jwk))) }

    /// Creates an Ed25519 or P-256 key. Throws ``KeyError`` with ``ErrandHTTP/FailureCode/unsupportedKey`` for another
    /// type.
    public static func generate(_ type: KeyType) throws(KeyError) -> PrivateKey {
        try PrivateKey(try PlatformPrivateKey.generate(type))
    }

    /// The type of the key, which determines its algorithms.
    public var type: KeyType { publicKey.type }
    /// The algorithms for the key. The preferred one is first.
    public var algorithms: [KeyAlgorithm] { type.algorithms }

    /// Returns a message's signature. An ECDSA signature is the number r followed by the number s. Throws ``KeyError``.
    public func signature(of message: Data, by algorithm: KeyAlgorithm) throws(KeyError) -> Data {
        try type.check(algorithm)
        return try platform.signature(of: message, by: algorithm)
    }

    /// The key in PEM as `PRIVATE KEY` (PKCS #8). Keep it secret.
    public var pem: String { PEM.text(material.pkcs8, label: "PRIVATE KEY") }
}

extension PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type of the key.
    public var description: String { "\(type) private key •••" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension KeyType {
    func check(_ algorithm: KeyAlgorithm) throws(KeyError) {
        guard algorithm.keyType == self else {
            throw KeyError(.keyMismatch, "a key of type \(self) can't be used with \(algorithm)")
        }
    }
}
