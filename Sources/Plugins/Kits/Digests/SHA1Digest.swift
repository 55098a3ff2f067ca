import ErrandSupport

/// SHA-1 (FIPS 180-4, section 6.1), for services that still sign with it. Don't use it for anything new: it's broken.
package struct SHA1Digest: MessageDigest {
    package static let blockByteCount = BlockBuffer.blockByteCount

    private var words: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
    private var buffer = BlockBuffer()

    package init() {}

    package mutating func update(_ bytes: Span<UInt8>) {
        buffer.take(bytes, into: &words, Self.process)
    }

    package func finalized() -> [UInt8] {
        var bytes: [UInt8] = []
        for word in buffer.finished(words, bigEndianLength: true, Self.process) { bytes.append(bigEndian: word) }
        return bytes
    }

    private static func process(_ blocks: Span<UInt8>, _ words: inout [UInt32]) {
        var schedule = [UInt32](repeating: 0, count: 80)
        for start in stride(from: 0, to: blocks.count, by: blockByteCount) {
            for index in 0..<16 { schedule[index] = blocks.bigEndian(at: start + 4 * index) }
            for index in 16..<80 {
                let mixed = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
                schedule[index] = mixed.rotatedLeft(1)
            }
            rounds(&words, schedule)
        }
    }

    private static func rounds(_ words: inout [UInt32], _ schedule: [UInt32]) {
        var (a, b, c, d, e) = (words[0], words[1], words[2], words[3], words[4])
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (d ^ b & (c ^ d), 0x5a82_7999)
                case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case ..<60: (b & c | d & (b | c), 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let next = a.rotatedLeft(5) &+ mixed &+ e &+ constant &+ schedule[index]
            (a, b, c, d, e) = (next, a, b.rotatedLeft(30), c, d)
        }
        words = [words[0] &+ a, words[1] &+ b, words[2] &+ c, words[3] &+ d, words[4] &+ e]
    }
}
