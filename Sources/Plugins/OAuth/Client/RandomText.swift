import ErrandDigests
import ErrandEssentials

/// Text that nobody can guess, from the system's random numbers.
enum RandomText {
    /// Returns 43 characters for 32 bytes, as for a verifier (RFC 7636, section 4.1).
    static func make(bytes count: Int = 32) -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.text((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}

/// The proof that the client that redeems a code also asked for it (RFC 7636), with the method S256.
struct PKCE {
    let verifier: String

    init(verifier: String = RandomText.make()) { self.verifier = verifier }

    var challenge: String { Base64URL.text(SHA256Digest.digest(of: verifier.utf8)) }
}
