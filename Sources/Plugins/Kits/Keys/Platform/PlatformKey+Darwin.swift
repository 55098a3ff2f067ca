#if canImport(CryptoKit)
import CryptoKit
import ErrandEssentials
import Security

enum PlatformPrivateKey: Sendable {
    case ed25519(Curve25519.Signing.PrivateKey)
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case rsa(RSAKey)

    init(_ material: PrivateMaterial) throws(KeyError) {
        do {
            switch material {
            case .ed25519(let seed, _):
                self = .ed25519(try Curve25519.Signing.PrivateKey(rawRepresentation: Data(seed)))
            case .ec(.p256, let scalar, _):
                self = .p256(try P256.Signing.PrivateKey(rawRepresentation: Data(scalar)))
            case .ec(.p384, let scalar, _):
                self = .p384(try P384.Signing.PrivateKey(rawRepresentation: Data(scalar)))
            case .rsa(let numbers):
                let part = PublicMaterial.rsa(modulus: numbers.modulus, exponent: numbers.exponent)
                self = .rsa(try RSAKey(numbers.pkcs1, kSecAttrKeyClassPrivate, part))
            }
        } catch let error as KeyError { throw error } catch { throw .malformed("CryptoKit doesn't accept the key") }
    }

    static func generate(_ type: KeyType) throws(KeyError) -> PrivateMaterial {
        switch type {
        case .ed25519:
            .ed25519(seed: Array(Curve25519.Signing.PrivateKey().rawRepresentation), publicKey: nil)
        case .p256: .ec(.p256, scalar: Array(P256.Signing.PrivateKey().rawRepresentation), point: nil)
        default: throw KeyError(.unsupportedKey, "only Ed25519 and P-256 keys can be generated")
        }
    }

    func publicMaterial() throws(KeyError) -> PublicMaterial {
        switch self {
        case .ed25519(let key): .ed25519(Array(key.publicKey.rawRepresentation))
        case .p256(let key): .ec(.p256, point: Array(key.publicKey.x963Representation))
        case .p384(let key): .ec(.p384, point: Array(key.publicKey.x963Representation))
        case .rsa(let key): key.publicPart
        }
    }

    func signature(of message: Data, by algorithm: KeyAlgorithm) throws(KeyError) -> Data {
        do {
            return switch self {
            case .ed25519(let key): try key.signature(for: message)
            case .p256(let key): try key.signature(for: message).rawRepresentation
            case .p384(let key): try key.signature(for: message).rawRepresentation
            case .rsa(let key): try key.signature(of: message, by: algorithm)
            }
        } catch let error as KeyError { throw error } catch {
            throw KeyError(.operationFailed, "CryptoKit couldn't use the key")
        }
    }
}

enum PlatformPublicKey: Sendable {
    case ed25519(Curve25519.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
    case p384(P384.Signing.PublicKey)
    case rsa(RSAKey)

    init(_ material: PublicMaterial) throws(KeyError) {
        do {
            switch material {
            case .ed25519(let key): self = .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: Data(key)))
            case .ec(.p256, let point): self = .p256(try P256.Signing.PublicKey(x963Representation: Data(point)))
            case .ec(.p384, let point): self = .p384(try P384.Signing.PublicKey(x963Representation: Data(point)))
            case .rsa: self = .rsa(try RSAKey(material.pkcs1, kSecAttrKeyClassPublic, material))
            }
        } catch let error as KeyError { throw error } catch { throw .malformed("CryptoKit doesn't accept the key") }
    }

    func isValid(_ signature: Data, of message: Data, by algorithm: KeyAlgorithm) throws(KeyError) -> Bool {
        switch self {
        case .ed25519(let key): return key.isValidSignature(signature, for: message)
        case .p256(let key):
            guard let known = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(known, for: message)
        case .p384(let key):
            guard let known = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(known, for: message)
        case .rsa(let key): return key.isValid(signature, of: message, by: algorithm)
        }
    }
}

/// An RSA key of Apple's Security framework. It isn't changed after its creation.
struct RSAKey: @unchecked Sendable {
    private let key: SecKey
    let publicPart: PublicMaterial

    init(_ pkcs1: [UInt8], _ keyClass: CFString, _ publicPart: PublicMaterial) throws(KeyError) {
        let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: keyClass]
        guard let key = SecKeyCreateWithData(Data(pkcs1) as CFData, attributes as CFDictionary, nil) else {
            throw .malformed("Security doesn't accept the key")
        }
        (self.key, self.publicPart) = (key, publicPart)
    }

    private static func algorithm(_ algorithm: KeyAlgorithm) -> SecKeyAlgorithm {
        // For PSS, Security uses a salt of the digest's size.
        algorithm == .rsaPSSSHA512 ? .rsaSignatureMessagePSSSHA512 : .rsaSignatureMessagePKCS1v15SHA256
    }

    func signature(of message: Data, by algorithm: KeyAlgorithm) throws(KeyError) -> Data {
        guard let made = SecKeyCreateSignature(key, Self.algorithm(algorithm), message as CFData, nil) else {
            throw KeyError(.operationFailed, "Security couldn't use the key")
        }
        return made as Data
    }

    func isValid(_ signature: Data, of message: Data, by algorithm: KeyAlgorithm) -> Bool {
        SecKeyVerifySignature(key, Self.algorithm(algorithm), message as CFData, signature as CFData, nil)
    }
}

enum PlatformCode {
    static func hmacSHA256(of message: Data, key: [UInt8]) throws(KeyError) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
    }

    static func isHMACSHA256(_ code: [UInt8], of message: Data, key: [UInt8]) throws(KeyError) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: SymmetricKey(data: key))
    }
}

enum PlatformDigest: Sendable {
    case sha256(SHA256)
    case sha384(SHA384)
    case sha512(SHA512)

    init(_ algorithm: KeyDigest.Algorithm) throws(KeyError) {
        switch algorithm {
        case .sha256: self = .sha256(SHA256())
        case .sha384: self = .sha384(SHA384())
        case .sha512: self = .sha512(SHA512())
        }
    }

    mutating func update(_ data: Data) throws(KeyError) {
        switch self {
        case .sha256(var digest):
            digest.update(data: data)
            self = .sha256(digest)
        case .sha384(var digest):
            digest.update(data: data)
            self = .sha384(digest)
        case .sha512(var digest):
            digest.update(data: data)
            self = .sha512(digest)
        }
    }

    mutating func finalize() throws(KeyError) -> Data {
        switch self {
        case .sha256(let digest): Data(digest.finalize())
        case .sha384(let digest): Data(digest.finalize())
        case .sha512(let digest): Data(digest.finalize())
        }
    }
}
#endif
