package import ErrandEssentials
import ErrandSupport

/// A digest that is updated piece by piece.
package protocol MessageDigest: Sendable {
    /// In bytes, for HMAC.
    static var blockByteCount: Int { get }
    init()
    mutating func update(_ bytes: Span<UInt8>)
    /// You can add more bytes afterwards.
    func finalized() -> [UInt8]
}

extension MessageDigest {
    package mutating func update(_ bytes: [UInt8]) { bytes.withSpan { update($0) } }
    package mutating func update(_ bytes: ArraySlice<UInt8>) { update(bytes.span) }
    package mutating func update(_ data: Data) { update(data.span) }
    package mutating func update(_ text: String.UTF8View) { String(text).withSpan { update($0) } }

    package mutating func update(_ bytes: some Sequence<UInt8>) { update(Array(bytes)) }

    package static func digest(of bytes: Span<UInt8>) -> [UInt8] {
        var digest = Self()
        digest.update(bytes)
        return digest.finalized()
    }

    package static func digest(of bytes: [UInt8]) -> [UInt8] { bytes.withSpan { digest(of: $0) } }
    package static func digest(of data: Data) -> [UInt8] { digest(of: data.span) }
    package static func digest(of text: String.UTF8View) -> [UInt8] { String(text).withSpan { digest(of: $0) } }

    package static func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var digest = Self()
        digest.update(bytes)
        return digest.finalized()
    }
}

/// Splits input into 64-byte blocks and pads the end, as MD5, SHA-1, and SHA-256 require.
struct BlockBuffer: Sendable {
    static let blockByteCount = 64

    private(set) var byteCount: UInt64 = 0
    private(set) var partial: [UInt8] = []

    init() {}

    init?(byteCount: UInt64, partial: some Collection<UInt8>) {
        // The length in bits must fit in 64 bits (FIPS 180-4, section 5.1.1).
        guard byteCount < 1 << 61, UInt64(partial.count) == byteCount % UInt64(Self.blockByteCount) else { return nil }
        self.byteCount = byteCount
        self.partial = Array(partial)
    }

    @inline(__always)
    mutating func take<Words>(
        _ bytes: Span<UInt8>, into words: inout Words, _ process: (Span<UInt8>, inout Words) -> Void
    ) {
        byteCount &+= UInt64(bytes.count)
        var start = 0
        if !partial.isEmpty {
            start = min(Self.blockByteCount - partial.count, bytes.count)
            partial.append(contentsOf: bytes.extracting(..<start))
            guard partial.count == Self.blockByteCount else { return }
            partial.withSpan { process($0, &words) }
            partial.removeAll(keepingCapacity: true)
        }
        let end = start + (bytes.count - start) / Self.blockByteCount * Self.blockByteCount
        if end > start { process(bytes.extracting(start..<end), &words) }
        partial.append(contentsOf: bytes.extracting(end...))
    }

    func finished<Words>(
        _ words: Words, bigEndianLength: Bool, _ process: (Span<UInt8>, inout Words) -> Void
    ) -> Words {
        var words = words
        let end = padded(bigEndianLength: bigEndianLength)
        end.withSpan { process($0, &words) }
        return words
    }

    private func padded(bigEndianLength: Bool) -> [UInt8] {
        var block = partial
        block.reserveCapacity(2 * Self.blockByteCount)
        block.append(0x80)
        let zeros = (2 * Self.blockByteCount - 8 - block.count) % Self.blockByteCount
        block.append(contentsOf: repeatElement(0, count: zeros))
        let bits = byteCount &* 8
        if bigEndianLength { block.append(bigEndian: bits) } else { block.append(littleEndian: bits) }
        return block
    }
}

extension UInt32 {
    @inline(__always)
    func rotatedLeft(_ count: UInt32) -> UInt32 { self &<< count | self &>> (32 &- count) }

    @inline(__always)
    func rotatedRight(_ count: UInt32) -> UInt32 { self &>> count | self &<< (32 &- count) }
}

/// MD5 (RFC 1321), for services that still require it. MD5 is broken, so don't use it for anything new (RFC 6151).
package struct MD5Digest: MessageDigest {
    package static let blockByteCount = BlockBuffer.blockByteCount

    private var words: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
    private var buffer = BlockBuffer()

    package init() {}

    package mutating func update(_ bytes: Span<UInt8>) {
        buffer.take(bytes, into: &words, Self.process)
    }

    package func finalized() -> [UInt8] {
        var bytes: [UInt8] = []
        for word in buffer.finished(words, bigEndianLength: false, Self.process) { bytes.append(littleEndian: word) }
        return bytes
    }

    private static func process(_ blocks: Span<UInt8>, _ words: inout [UInt32]) {
        for start in stride(from: 0, to: blocks.count, by: blockByteCount) {
            var (a, b, c, d) = (words[0], words[1], words[2], words[3])
            for index in 0..<64 {
                let (mixed, wordIndex): (UInt32, Int) =
                    switch index {
                    case ..<16: (d ^ b & (c ^ d), index)
                    case ..<32: (c ^ d & (b ^ c), 5 * index + 1)
                    case ..<48: (b ^ c ^ d, 3 * index + 5)
                    default: (c ^ (b | ~d), 7 * index)
                    }
                let word = blocks.littleEndian(at: start + 4 * (wordIndex & 15), as: UInt32.self)
                let sum = a &+ mixed &+ constants[index] &+ word
                (a, b, c, d) = (d, b &+ sum.rotatedLeft(shifts[4 * (index >> 4) + index % 4]), b, c)
            }
            words = [words[0] &+ a, words[1] &+ b, words[2] &+ c, words[3] &+ d]
        }
    }

    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// Table T of RFC 1321, section 3.4.
    private static let constants: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]
}

/// SHA-1 (FIPS 180-4, section 6.1), for services that still require it. SHA-1 is broken, so don't use it for anything
/// new.
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
