#if !canImport(CryptoKit)
import CErrandKeys
import ErrandEssentials

// Pointers refer to arrays or spans that outlive the call. libcrypto receives their sizes.

/// A key of libcrypto. Threads can share it, because it isn't changed after its creation and its reference count is
/// atomic.
// Safe: `key` is created here and freed once in `deinit`. It leaves the object only as an argument to the C functions.
@safe
private final class OpenSSLKey: @unchecked Sendable {
    let key: OpaquePointer

    init?(_ key: OpaquePointer?) {
        guard let key = unsafe key else { return nil }
        unsafe self.key = key
    }

    deinit { unsafe errand_key_free(key) }

    /// Returns the bytes that a function writes.
    ///
    /// - Parameter write: Writes to the buffer and returns the number of bytes, or 0 on failure.
    static func bytes(
        capacity: Int, _ write: (UnsafeMutablePointer<UInt8>?, Int) -> Int
    ) throws(KeyError) -> [UInt8] {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            unsafe count = write(buffer.baseAddress, buffer.count)
        }
        guard !bytes.isEmpty else { throw KeyError(.operationFailed, "libcrypto couldn't use the key") }
        return bytes
    }

    static func read(
        _ der: [UInt8], _ read: (UnsafePointer<UInt8>?, Int) -> OpaquePointer?
    ) throws(KeyError) -> OpenSSLKey {
        guard errand_keys_load() == 1 else { throw .libraryMissing }
        guard let key = unsafe OpenSSLKey(read(der, der.count)) else {
            throw .malformed("libcrypto doesn't accept the key")
        }
        return key
    }
}

struct PlatformPrivateKey: Sendable {
    private let key: OpenSSLKey
    private let type: KeyType

    init(_ material: PrivateMaterial) throws(KeyError) {
        type = material.type
        // Without the public part, libcrypto computes it, and the caller can compare it.
        let der =
            if case .ec(let curve, let scalar, _) = material {
                PrivateMaterial.ec(curve, scalar: scalar, point: nil).pkcs8
            } else { material.pkcs8 }
        key = unsafe try OpenSSLKey.read(der) { unsafe errand_key_private($0, $1) }
    }

    static func generate(_ type: KeyType) throws(KeyError) -> PrivateMaterial {
        guard type == .ed25519 || type == .p256 else {
            throw KeyError(.unsupportedKey, "only Ed25519 and P-256 keys can be generated")
        }
        guard errand_keys_load() == 1 else { throw .libraryMissing }
        let kind = type == .ed25519 ? ERRAND_KEY_ED25519 : ERRAND_KEY_P256
        guard let key = unsafe OpenSSLKey(errand_key_generate(Int32(kind))) else {
            throw KeyError(.operationFailed, "libcrypto couldn't create a key")
        }
        let der = unsafe try OpenSSLKey.bytes(capacity: 1024) { unsafe errand_key_write_private(key.key, $0, $1) }
        return type == .ed25519 ? try PrivateMaterial(pkcs8: der) : try PrivateMaterial(sec1: der, .p256)
    }

    func publicMaterial() throws(KeyError) -> PublicMaterial {
        let der = unsafe try OpenSSLKey.bytes(capacity: 4096) { unsafe errand_key_write_public(key.key, $0, $1) }
        return try PublicMaterial(subjectInfo: der)
    }

    func signature(of message: Data, by algorithm: KeyAlgorithm) throws(KeyError) -> Data {
        let message = Array(message)
        let bytes = unsafe try OpenSSLKey.bytes(capacity: 1024) {
            unsafe errand_key_sign(key.key, algorithm.number, message, message.count, $0, $1)
        }
        guard let size = algorithm.coordinateSize else { return Data(bytes) }
        guard let raw = ECDSASignature.raw(bytes, size: size) else {
            throw KeyError(.operationFailed, "libcrypto returned a signature of the wrong size")
        }
        return Data(raw)
    }
}

struct PlatformPublicKey: Sendable {
    private let key: OpenSSLKey

    init(_ material: PublicMaterial) throws(KeyError) {
        key = unsafe try OpenSSLKey.read(material.subjectInfo) { unsafe errand_key_public($0, $1) }
    }

    func isValid(_ signature: Data, of message: Data, by algorithm: KeyAlgorithm) throws(KeyError) -> Bool {
        var signature = Array(signature)
        if let size = algorithm.coordinateSize {
            guard let der = ECDSASignature.der(signature, size: size) else { return false }
            signature = der
        }
        let message = Array(message)
        let result = unsafe errand_key_verify(
            key.key, algorithm.number, message, message.count, signature, signature.count)
        guard result >= 0 else { throw KeyError(.operationFailed, "libcrypto couldn't verify a signature") }
        return result == 1
    }
}

extension KeyAlgorithm {
    fileprivate var number: Int32 {
        switch scheme {
        case .hmacSHA256: 0
        case .ed25519: Int32(ERRAND_SIGNATURE_ED25519)
        case .ecdsaP256SHA256: Int32(ERRAND_SIGNATURE_ECDSA_SHA256)
        case .ecdsaP384SHA384: Int32(ERRAND_SIGNATURE_ECDSA_SHA384)
        case .rsaPSSSHA512: Int32(ERRAND_SIGNATURE_PSS_SHA512)
        case .rsaPKCS1SHA256: Int32(ERRAND_SIGNATURE_PKCS1_SHA256)
        }
    }

    fileprivate var coordinateSize: Int? {
        switch scheme {
        case .ecdsaP256SHA256: 32
        case .ecdsaP384SHA384: 48
        default: nil
        }
    }
}

enum PlatformCode {
    static func hmacSHA256(of message: Data, key: [UInt8]) throws(KeyError) -> [UInt8] {
        guard errand_keys_load() == 1 else { throw .libraryMissing }
        let message = Array(message)
        var code = [UInt8](repeating: 0, count: 32)
        guard unsafe errand_hmac_sha256(key, key.count, message, message.count, &code) == 1 else {
            throw KeyError(.operationFailed, "libcrypto couldn't compute a code")
        }
        return code
    }

    static func isHMACSHA256(_ code: [UInt8], of message: Data, key: [UInt8]) throws(KeyError) -> Bool {
        let expected = try hmacSHA256(of: message, key: key)
        guard code.count == expected.count else { return false }
        return unsafe errand_equal(code, expected, expected.count) == 1
    }
}

// Safe: `digest` is created here and freed once in `deinit`. It leaves the object only as an argument to the C
// functions.
@safe
struct PlatformDigest: ~Copyable, @unchecked Sendable {
    private let digest: OpaquePointer

    init(_ algorithm: KeyDigest.Algorithm) throws(KeyError) {
        guard errand_keys_load() == 1 else { throw .libraryMissing }
        let bits: Int32 =
            switch algorithm {
            case .sha256: 256
            case .sha384: 384
            case .sha512: 512
            }
        guard let digest = unsafe errand_digest_make(bits) else {
            throw KeyError(.operationFailed, "libcrypto couldn't create a digest")
        }
        unsafe self.digest = digest
    }

    deinit { unsafe errand_digest_free(digest) }

    mutating func update(_ data: Data) throws(KeyError) {
        let works = unsafe data.span.withUnsafeBufferPointer { bytes in
            unsafe errand_digest_update(digest, bytes.baseAddress, bytes.count)
        }
        guard works == 1 else { throw KeyError(.operationFailed, "libcrypto couldn't compute a digest") }
    }

    mutating func finalize() throws(KeyError) -> Data {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe errand_digest_finish(digest, &bytes)
        guard count > 0 else { throw KeyError(.operationFailed, "libcrypto couldn't compute a digest") }
        return Data(bytes.prefix(Int(count)))
    }
}
#endif
