import ErrandDigests
public import ErrandEssentials

/// A public key: Ed25519, P-256, P-384, or RSA.
public struct PublicKey: KeyVerifier, Hashable {
    private let material: PublicMaterial
    private let platform: PlatformPublicKey

    init(_ material: PublicMaterial) throws(KeyError) {
        self.material = material
        platform = try PlatformPublicKey(material)
    }

    /// Reads a PEM key: `PUBLIC KEY` (SubjectPublicKeyInfo) or `RSA PUBLIC KEY` (PKCS #1). Throws ``KeyError``.
    public init(pem: String) throws(KeyError) {
        try self.init(try PEM.find(in: pem, "public key", PublicMaterial.init(label:der:)))
    }

    /// Reads a JSON Web Key (RFC 7517). Ignores a private part. Throws ``KeyError``.
    public init(jwk: Data) throws(KeyError) { try self.init(try PublicMaterial(try JWKMembers(jwk))) }

    /// The type of the key, which determines its algorithms.
    public var type: KeyType { material.type }
    /// The algorithms for the key. The preferred one is first.
    public var algorithms: [KeyAlgorithm] { type.algorithms }

    /// Returns whether the private key that belongs to this key signed the message. Throws ``KeyError`` if the
    /// algorithm doesn't fit the key, or the platform's library is missing.
    public func isValid(
        _ signature: Data, of message: Data, by algorithm: KeyAlgorithm
    ) throws(KeyError) -> Bool {
        try type.check(algorithm)
        return try platform.isValid(signature, of: message, by: algorithm)
    }

    /// The key in PEM as `PUBLIC KEY` (SubjectPublicKeyInfo).
    public var pem: String { PEM.text(material.subjectInfo, label: "PUBLIC KEY") }
    /// The key as a JSON Web Key with only the required members, in alphabetical order.
    public var jwk: String { material.jwk }

    /// Returns the key's SHA-256 thumbprint (RFC 7638) in base64url. Use it as the `jkt` in DPoP, or as a key ID.
    /// Throws ``KeyError`` if the platform's library is missing.
    public func thumbprint() throws(KeyError) -> String {
        Base64URL.text(try KeyDigest.digest(of: Data(jwk.utf8), .sha256))
    }

    /// Compares two keys. The formats that the keys were read from don't matter.
    public static func == (a: PublicKey, b: PublicKey) -> Bool { a.material == b.material }
    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(material) }
}

extension PublicKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type of the key.
    public var description: String { "\(type) public key" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror that shows only the type.
    public var customMirror: Mirror { Mirror(self, children: ["type": type]) }
}
