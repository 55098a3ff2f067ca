import Errand
import ErrandDigests
import ErrandSupport
import Synchronization

/// Makes keyed hashes (HMAC-SHA-256) of values that must not be stored in the clear.
final class KeyedHasher: Sendable {
    private let code: HMAC<SHA256Digest>
    /// The hashes of the last texts: each request of a user asks for the same ones.
    private let known = Mutex<[CacheKey: String]>([:])

    init(secret: [UInt8]) { code = HMAC(key: secret) }

    func hash(_ text: String) -> String {
        // Compared byte by byte: texts that Unicode takes for the same have different hashes.
        let key = CacheKey(text)
        if let hash = known.withLock({ $0[key] }) { return hash }
        var code = code
        code.update(text.utf8)
        let hash = Hexadecimal.text(code.finalized())
        known.withLock { known in
            if known.count >= 64 { known.removeAll() }
            known[key] = hash
        }
        return hash
    }
}
