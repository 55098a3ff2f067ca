/// SHA-256 (FIPS 180-4, section 6.2), fed piece by piece, with a state that can be saved and taken up again.
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

    /// Eight words in registers rather than in an array.
    private typealias Words = SIMD8<UInt32>

    package init() {
        words = Words(
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
        buffer = BlockBuffer()
    }

    /// Bytes taken in so far.
    package var count: UInt64 { buffer.byteCount }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        buffer.take(bytes, into: &words, Self.process)
    }

    package func finalized() -> [UInt8] {
        Self.bytes(of: buffer.finished(words, bigEndianLength: true, Self.process))
    }

    /// Everything needed to go on later, in another process too: 40 to 103 bytes, the same on every platform.
    package var state: [UInt8] {
        var result = withUnsafeBytes(of: buffer.byteCount.bigEndian) { Array($0) }
        result += Self.bytes(of: words)
        result += buffer.partial
        return result
    }

    /// Takes up a saved state; nil if it is none. That it was not changed is for the caller to know.
    package init?(state: some Collection<UInt8>) {
        let state = Array(state)
        guard state.count >= 8 + Self.byteCount else { return nil }
        let count = state.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        guard let buffer = BlockBuffer(byteCount: count, partial: state[(8 + Self.byteCount)...]) else { return nil }
        self.buffer = buffer
        words = Words()
        state.withUnsafeBytes { bytes in
            for index in 0..<8 { words[index] = UInt32(bigEndian: bytes.word(at: 8 + 4 * index)) }
        }
    }

    private static func bytes(of words: Words) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { bytes, count in
            let bytes = UnsafeMutableRawBufferPointer(bytes)
            for index in 0..<8 {
                bytes.storeBytes(of: words[index].bigEndian, toByteOffset: 4 &* index, as: UInt32.self)
            }
            count = byteCount
        }
    }

    private static func process(_ blocks: UnsafeRawBufferPointer, _ words: inout Words) {
        constants.withUnsafeBufferPointer { constants in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                for start in stride(from: 0, to: blocks.count, by: blockByteCount) {
                    expand(blocks, start, schedule, constants)
                    words &+= rounds(words, schedule)
                }
            }
        }
    }

    /// The message schedule with the constants added.
    @inline(__always)
    private static func expand(
        _ blocks: UnsafeRawBufferPointer, _ start: Int, _ schedule: UnsafeMutableBufferPointer<UInt32>,
        _ constants: UnsafeBufferPointer<UInt32>
    ) {
        for index in 0..<16 { schedule[index] = UInt32(bigEndian: blocks.word(at: start &+ 4 &* index)) }
        for index in 16..<64 {
            let (x, y) = (schedule[index &- 15], schedule[index &- 2])
            let s0 = x.rotatedRight(7) ^ x.rotatedRight(18) ^ x &>> 3
            let s1 = y.rotatedRight(17) ^ y.rotatedRight(19) ^ y &>> 10
            schedule[index] = schedule[index &- 16] &+ s0 &+ schedule[index &- 7] &+ s1
        }
        for index in 0..<64 { schedule[index] &+= constants[index] }
    }

    @inline(__always)
    private static func rounds(_ words: Words, _ schedule: UnsafeMutableBufferPointer<UInt32>) -> Words {
        var (a, b, c, d) = (words[0], words[1], words[2], words[3])
        var (e, f, g, h) = (words[4], words[5], words[6], words[7])
        var index = 0
        // Eight rounds a turn, each with the names moved on by one, so that no value is moved.
        while index < 64 {
            round(a, b, c, &d, e, f, g, &h, schedule[index])
            round(h, a, b, &c, d, e, f, &g, schedule[index &+ 1])
            round(g, h, a, &b, c, d, e, &f, schedule[index &+ 2])
            round(f, g, h, &a, b, c, d, &e, schedule[index &+ 3])
            round(e, f, g, &h, a, b, c, &d, schedule[index &+ 4])
            round(d, e, f, &g, h, a, b, &c, schedule[index &+ 5])
            round(c, d, e, &f, g, h, a, &b, schedule[index &+ 6])
            round(b, c, d, &e, f, g, h, &a, schedule[index &+ 7])
            index &+= 8
        }
        return Words(a, b, c, d, e, f, g, h)
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
        _ h: inout UInt32, _ word: UInt32
    ) {
        let s1 = e.rotatedRight(6) ^ e.rotatedRight(11) ^ e.rotatedRight(25)
        let t1 = h &+ s1 &+ (g ^ e & (f ^ g)) &+ word
        let s0 = a.rotatedRight(2) ^ a.rotatedRight(13) ^ a.rotatedRight(22)
        d = d &+ t1
        h = t1 &+ s0 &+ (a & b | c & (a | b))
    }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
