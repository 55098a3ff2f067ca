import ErrandDigests
import ErrandSupport
import Testing

@Suite("Digests", .leakChecked)
struct DigestTests {
    /// FIPS 180-4's examples, RFC 1321's suite, and lengths around the padding boundary.
    static let vectors: [(text: String, md5: String, sha1: String, sha256: String)] = [
        (
            "", "d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        ),
        (
            "abc", "900150983cd24fb0d6963f7d28e17f72", "a9993e364706816aba3e25717850c26c9cd0d89d",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        ),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "8215ef0796a20bcaaae116d3876c664a",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
                + "nopqrstu", "03dd8807a93175fb062dfb55dc7d359c", "a49b2446a02c645bf419f995b67091253a04a259",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ]

    @Test("SHA-256, SHA-1 and MD5 give the published values", arguments: vectors)
    func published(text: String, md5: String, sha1: String, sha256: String) {
        #expect(Hexadecimal.text(MD5Digest.digest(of: text.utf8)) == md5)
        #expect(Hexadecimal.text(SHA1Digest.digest(of: text.utf8)) == sha1)
        #expect(Hexadecimal.text(SHA256Digest.digest(of: text.utf8)) == sha256)
    }

    @Test("the digest of a million letters a is correct")
    func million() {
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        #expect(
            Hexadecimal.text(SHA256Digest.digest(of: bytes))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        #expect(Hexadecimal.text(SHA1Digest.digest(of: bytes)) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
        #expect(Hexadecimal.text(MD5Digest.digest(of: bytes)) == "7707d6ae4e027c70eea2a935c2296f21")
    }

    @Test("pieces of any size give the same digest as the whole, which can be read in between")
    func pieces() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let whole = SHA256Digest.digest(of: bytes)
        for size in [1, 3, 55, 56, 63, 64, 65, 119, 120, 128, 999] {
            var (sha256, sha1, md5) = (SHA256Digest(), SHA1Digest(), MD5Digest())
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = bytes[start..<min(start + size, bytes.count)]
                sha256.update(piece)
                sha1.update(piece)
                md5.update(piece)
                #expect(sha256.finalized() == SHA256Digest.digest(of: bytes[..<piece.endIndex]))
            }
            #expect(sha256.finalized() == whole)
            #expect(sha256.count == 1000)
            #expect(sha1.finalized() == SHA1Digest.digest(of: bytes))
            #expect(md5.finalized() == MD5Digest.digest(of: bytes))
        }
        #expect(
            SHA256Digest.digest(of: sequence(first: 0, next: { $0 < 9 ? $0 + 1 : nil }))
                == SHA256Digest.digest(of: 0...9))
    }

    @Test("a saved state continues where it stopped, after every byte")
    func states() throws {
        let bytes = (0..<200).map { UInt8($0) }
        for cut in 0...bytes.count {
            var first = SHA256Digest()
            first.update(bytes[..<cut])
            let state = first.state
            #expect((40...103).contains(state.count))
            var second = try #require(SHA256Digest(state: state))
            #expect(second.count == UInt64(cut))
            #expect(second.state == state)
            second.update(bytes[cut...])
            #expect(second.finalized() == SHA256Digest.digest(of: bytes))
        }
    }

    @Test("an invalid state is refused")
    func damagedStates() {
        var digest = SHA256Digest()
        digest.update(0..<70)
        let state = digest.state
        #expect(SHA256Digest(state: state.dropLast()) == nil)
        #expect(SHA256Digest(state: state + [0]) == nil)
        #expect(SHA256Digest(state: []) == nil)
        #expect(SHA256Digest(state: [UInt8](repeating: 0xFF, count: 40)) == nil)
        #expect(SHA256Digest(state: [UInt8](repeating: 0xFF, count: 103)) == nil)
    }

    /// RFC 4231, sections 4.2 to 4.8, without the truncated one.
    static let codes: [(key: [UInt8], message: [UInt8], code: String)] = [
        (
            .init(repeating: 0x0b, count: 20), .init("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            .init("Jefe".utf8), .init("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            .init(repeating: 0xaa, count: 20), .init(repeating: 0xdd, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            .init(1...25), .init(repeating: 0xcd, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            .init(repeating: 0xaa, count: 131), .init("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            .init(repeating: 0xaa, count: 131),
            .init(
                ("This is a test using a larger than block-size key and a larger than block-size data. The key needs to "
                    + "be hashed before being used by the HMAC algorithm.").utf8),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]

    @Test("HMAC-SHA-256 gives RFC 4231's values", arguments: codes)
    func hmac(key: [UInt8], message: [UInt8], code: String) {
        #expect(Hexadecimal.text(HMAC<SHA256Digest>.code(for: message, key: key)) == code)
        var pieces = HMAC<SHA256Digest>(key: key)
        for byte in message { pieces.update([byte]) }
        #expect(Hexadecimal.text(pieces.finalized()) == code)
    }

    @Test("HMAC over MD5 and SHA-1 gives RFC 2202's values")
    func legacyHMAC() {
        let (key, message) = ("Jefe".utf8, "what do ya want for nothing?".utf8)
        #expect(Hexadecimal.text(HMAC<MD5Digest>.code(for: message, key: key)) == "750c783e6ab0b503eaa86e310a5db738")
        #expect(
            Hexadecimal.text(HMAC<SHA1Digest>.code(for: message, key: key))
                == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    }
}
