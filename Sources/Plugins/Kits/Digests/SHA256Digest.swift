import ErrandSupport

/// SHA-256 (FIPS 180-4, section 6.2) with a state that you can save and restore.
///
/// ```swift
/// var digest = SHA256Digest()
/// digest.update(firstHalf)
/// try save(digest.state)
/// …
/// guard var digest = SHA256Digest(state: saved) else { … }
/// digest.update(secondHalf)
/// let hash = digest.finalized()
/// ```
package struct SHA256Digest: MessageDigest {
    package static let blockByteCount = BlockBuffer.blockByteCount
    package static let byteCount = 32

    private var words: Words
    private var buffer: BlockBuffer

    /// Unlike an array, the eight words are held in registers.
    private typealias Words = SIMD8<UInt32>

    package init() {
        words = Words(
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
        buffer = BlockBuffer()
    }

    package var count: UInt64 { buffer.byteCount }

    package mutating func update(_ bytes: Span<UInt8>) {
        buffer.take(bytes, into: &words, Self.process)
    }

    package func finalized() -> [UInt8] {
        Self.bytes(of: buffer.finished(words, bigEndianLength: true, Self.process))
    }

    /// 40 to 103 bytes, the same on every platform. Another process can continue with the state.
    package var state: [UInt8] {
        var result: [UInt8] = []
        result.append(bigEndian: buffer.byteCount)
        result += Self.bytes(of: words)
        result += buffer.partial
        return result
    }

    /// The caller must ensure that the state wasn't modified.
    package init?(state: some Collection<UInt8>) {
        let state = ContiguousArray(state)
        guard state.count >= 8 + Self.byteCount else { return nil }
        let count = state.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        guard let buffer = BlockBuffer(byteCount: count, partial: state[(8 + Self.byteCount)...]) else { return nil }
        self.buffer = buffer
        words = Words()
        for index in 0..<8 { words[index] = state.span.bigEndian(at: 8 + 4 * index) }
    }

    private static func bytes(of words: Words) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        for index in 0..<8 { bytes.append(bigEndian: words[index]) }
        return bytes
    }

    private static func process(_ blocks: Span<UInt8>, _ words: inout Words) {
        for start in stride(from: 0, to: blocks.count, by: blockByteCount) {
            words &+= rounds(words, blocks.extracting(start..<(start + blockByteCount)))
        }
    }

    /// Variables, not memory, hold the next sixteen words of the message schedule. Each word is replaced after its use.
    @inline(__always)
    private static func rounds(_ words: Words, _ block: Span<UInt8>) -> Words {
        var (a, b, c, d) = (words[0], words[1], words[2], words[3])
        var (e, f, g, h) = (words[4], words[5], words[6], words[7])
        var w0 = block.bigEndian(at: 0, as: UInt32.self)
        var w1 = block.bigEndian(at: 4, as: UInt32.self)
        var w2 = block.bigEndian(at: 8, as: UInt32.self)
        var w3 = block.bigEndian(at: 12, as: UInt32.self)
        var w4 = block.bigEndian(at: 16, as: UInt32.self)
        var w5 = block.bigEndian(at: 20, as: UInt32.self)
        var w6 = block.bigEndian(at: 24, as: UInt32.self)
        var w7 = block.bigEndian(at: 28, as: UInt32.self)
        var w8 = block.bigEndian(at: 32, as: UInt32.self)
        var w9 = block.bigEndian(at: 36, as: UInt32.self)
        var w10 = block.bigEndian(at: 40, as: UInt32.self)
        var w11 = block.bigEndian(at: 44, as: UInt32.self)
        var w12 = block.bigEndian(at: 48, as: UInt32.self)
        var w13 = block.bigEndian(at: 52, as: UInt32.self)
        var w14 = block.bigEndian(at: 56, as: UInt32.self)
        var w15 = block.bigEndian(at: 60, as: UInt32.self)
        var turn = 0
        while true {
            let k = constants[turn]
            round(a, b, c, &d, e, f, g, &h, adding: w0 &+ k[0])
            round(h, a, b, &c, d, e, f, &g, adding: w1 &+ k[1])
            round(g, h, a, &b, c, d, e, &f, adding: w2 &+ k[2])
            round(f, g, h, &a, b, c, d, &e, adding: w3 &+ k[3])
            round(e, f, g, &h, a, b, c, &d, adding: w4 &+ k[4])
            round(d, e, f, &g, h, a, b, &c, adding: w5 &+ k[5])
            round(c, d, e, &f, g, h, a, &b, adding: w6 &+ k[6])
            round(b, c, d, &e, f, g, h, &a, adding: w7 &+ k[7])
            round(a, b, c, &d, e, f, g, &h, adding: w8 &+ k[8])
            round(h, a, b, &c, d, e, f, &g, adding: w9 &+ k[9])
            round(g, h, a, &b, c, d, e, &f, adding: w10 &+ k[10])
            round(f, g, h, &a, b, c, d, &e, adding: w11 &+ k[11])
            round(e, f, g, &h, a, b, c, &d, adding: w12 &+ k[12])
            round(d, e, f, &g, h, a, b, &c, adding: w13 &+ k[13])
            round(c, d, e, &f, g, h, a, &b, adding: w14 &+ k[14])
            round(b, c, d, &e, f, g, h, &a, adding: w15 &+ k[15])
            turn += 1
            if turn == 4 { return Words(a, b, c, d, e, f, g, h) }
            w0 = next(w0, w1, w9, w14)
            w1 = next(w1, w2, w10, w15)
            w2 = next(w2, w3, w11, w0)
            w3 = next(w3, w4, w12, w1)
            w4 = next(w4, w5, w13, w2)
            w5 = next(w5, w6, w14, w3)
            w6 = next(w6, w7, w15, w4)
            w7 = next(w7, w8, w0, w5)
            w8 = next(w8, w9, w1, w6)
            w9 = next(w9, w10, w2, w7)
            w10 = next(w10, w11, w3, w8)
            w11 = next(w11, w12, w4, w9)
            w12 = next(w12, w13, w5, w10)
            w13 = next(w13, w14, w6, w11)
            w14 = next(w14, w15, w7, w12)
            w15 = next(w15, w0, w8, w13)
        }
    }

    @inline(__always)
    private static func next(_ first: UInt32, _ second: UInt32, _ tenth: UInt32, _ fifteenth: UInt32) -> UInt32 {
        let s0 = second.rotatedRight(7) ^ second.rotatedRight(18) ^ second &>> 3
        let s1 = fifteenth.rotatedRight(17) ^ fifteenth.rotatedRight(19) ^ fifteenth &>> 10
        return first &+ s0 &+ tenth &+ s1
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
        _ h: inout UInt32, adding word: UInt32
    ) {
        let s1 = e.rotatedRight(6) ^ e.rotatedRight(11) ^ e.rotatedRight(25)
        let t1 = h &+ s1 &+ (g ^ e & (f ^ g)) &+ word
        let s0 = a.rotatedRight(2) ^ a.rotatedRight(13) ^ a.rotatedRight(22)
        d = d &+ t1
        h = t1 &+ s0 &+ (a & b | c & (a | b))
    }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
    private static let constants: [SIMD16<UInt32>] = [
        SIMD16(
            0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
            0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174),
        SIMD16(
            0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
            0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967),
        SIMD16(
            0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
            0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070),
        SIMD16(
            0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
            0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2),
    ]
}

/// A running SHA-256 that uses the platform's fastest implementation.
package protocol RunningSHA256: Sendable {
    mutating func update(_ bytes: Span<UInt8>)
    /// Don't update the digest afterwards.
    func finalized() -> [UInt8]
}

package enum PlatformSHA256 {
    package static func make() -> any RunningSHA256 { platform() ?? PortableSHA256() }
}

package struct PortableSHA256: RunningSHA256 {
    private var digest = SHA256Digest()

    package init() {}

    package mutating func update(_ bytes: Span<UInt8>) { digest.update(bytes) }
    package func finalized() -> [UInt8] { digest.finalized() }
}
