/// A signature algorithm. HTTP signatures and JOSE have different names for the same algorithm: ``httpName`` and
/// ``joseName``.
public struct KeyAlgorithm: Sendable, Hashable, CustomStringConvertible {
    enum Scheme: Sendable, Hashable {
        case hmacSHA256, ed25519, ecdsaP256SHA256, ecdsaP384SHA384, rsaPSSSHA512, rsaPKCS1SHA256
    }

    let scheme: Scheme

    /// HMAC with SHA-256 (RFC 2104): `hmac-sha256`, `HS256`.
    public static let hmacSHA256 = KeyAlgorithm(scheme: .hmacSHA256)
    /// Ed25519 (RFC 8032): `ed25519`, `EdDSA`.
    public static let ed25519 = KeyAlgorithm(scheme: .ed25519)
    /// ECDSA on P-256 with SHA-256: `ecdsa-p256-sha256`, `ES256`. Signatures are 64 bytes, r followed by s.
    public static let ecdsaP256SHA256 = KeyAlgorithm(scheme: .ecdsaP256SHA256)
    /// ECDSA on P-384 with SHA-384: `ecdsa-p384-sha384`, `ES384`. Signatures are 96 bytes, r followed by s.
    public static let ecdsaP384SHA384 = KeyAlgorithm(scheme: .ecdsaP384SHA384)
    /// RSASSA-PSS with SHA-512 and a salt of 64 bytes (RFC 8017): `rsa-pss-sha512`, `PS512`.
    public static let rsaPSSSHA512 = KeyAlgorithm(scheme: .rsaPSSSHA512)
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017): `rsa-v1_5-sha256`, `RS256`.
    public static let rsaPKCS1SHA256 = KeyAlgorithm(scheme: .rsaPKCS1SHA256)

    static let all: [KeyAlgorithm] = [
        .hmacSHA256, .ed25519, .ecdsaP256SHA256, .ecdsaP384SHA384, .rsaPSSSHA512, .rsaPKCS1SHA256,
    ]

    private init(scheme: Scheme) { self.scheme = scheme }

    /// Finds an algorithm by its name in HTTP signatures (RFC 9421, section 6.2.2). Throws
    /// ``ErrandHTTP/FailureCode/unknownAlgorithm``.
    public init(httpName: String) throws(KeyError) { self = try Self.named(httpName) { $0.httpName == httpName } }

    /// Finds an algorithm by its name in JOSE (RFC 7518, section 3.1). Throws
    /// ``ErrandHTTP/FailureCode/unknownAlgorithm``.
    public init(joseName: String) throws(KeyError) { self = try Self.named(joseName) { $0.joseName == joseName } }

    private static func named(_ name: String, _ matches: (KeyAlgorithm) -> Bool) throws(KeyError) -> KeyAlgorithm {
        guard let found = all.first(where: matches) else {
            throw KeyError(.unknownAlgorithm, "the algorithm \(String(name.prefix(40)).debugDescription) is unknown")
        }
        return found
    }

    /// The algorithm's name in HTTP signatures, such as `ecdsa-p256-sha256`.
    public var httpName: String {
        switch scheme {
        case .hmacSHA256: "hmac-sha256"
        case .ed25519: "ed25519"
        case .ecdsaP256SHA256: "ecdsa-p256-sha256"
        case .ecdsaP384SHA384: "ecdsa-p384-sha384"
        case .rsaPSSSHA512: "rsa-pss-sha512"
        case .rsaPKCS1SHA256: "rsa-v1_5-sha256"
        }
    }

    /// The algorithm's name in JOSE, such as `ES256`.
    public var joseName: String {
        switch scheme {
        case .hmacSHA256: "HS256"
        case .ed25519: "EdDSA"
        case .ecdsaP256SHA256: "ES256"
        case .ecdsaP384SHA384: "ES384"
        case .rsaPSSSHA512: "PS512"
        case .rsaPKCS1SHA256: "RS256"
        }
    }

    /// The algorithm's name in HTTP signatures.
    public var description: String { httpName }

    var keyType: KeyType? {
        switch scheme {
        case .hmacSHA256: nil
        case .ed25519: .ed25519
        case .ecdsaP256SHA256: .p256
        case .ecdsaP384SHA384: .p384
        case .rsaPSSSHA512, .rsaPKCS1SHA256: .rsa
        }
    }
}

/// The type of a private or public key.
public struct KeyType: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable { case ed25519, p256, p384, rsa }

    let kind: Kind

    /// Ed25519 keys (RFC 8032).
    public static let ed25519 = KeyType(kind: .ed25519)
    /// Keys on the NIST curve P-256.
    public static let p256 = KeyType(kind: .p256)
    /// Keys on the NIST curve P-384.
    public static let p384 = KeyType(kind: .p384)
    /// RSA keys of 2,048 to 8,192 bits.
    public static let rsa = KeyType(kind: .rsa)

    private init(kind: Kind) { self.kind = kind }

    /// The algorithms for keys of this type. The preferred one is first.
    public var algorithms: [KeyAlgorithm] { KeyAlgorithm.all.filter { $0.keyType == self } }

    /// The type's name, such as `P-256`.
    public var description: String {
        switch kind {
        case .ed25519: "Ed25519"
        case .p256: "P-256"
        case .p384: "P-384"
        case .rsa: "RSA"
        }
    }
}
