import ErrandSupport

/// Cuts what comes in pieces of any size into blocks of 64 bytes, and pads the end, as MD5, SHA-1 and SHA-256 want it.
struct BlockBuffer: Sendable {
    static let blockByteCount = 64

    /// Bytes taken in so far.
    private(set) var byteCount: UInt64 = 0
    /// Those of a block that is not full yet.
    private(set) var partial: [UInt8] = []

    init() {}

    /// Nil unless the partial block is what is left over of that many bytes.
    init?(byteCount: UInt64, partial: some Collection<UInt8>) {
        // The length in bits has to fit in 64 bits (FIPS 180-4, section 5.1.1).
        guard byteCount < 1 << 61, UInt64(partial.count) == byteCount % UInt64(Self.blockByteCount) else { return nil }
        self.byteCount = byteCount
        self.partial = Array(partial)
    }

    /// Processes as many whole blocks as there are, straight from the caller's memory where that is possible.
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
            process(partial.span, &words)
            partial.removeAll(keepingCapacity: true)
        }
        let end = start + (bytes.count - start) / Self.blockByteCount * Self.blockByteCount
        if end > start { process(bytes.extracting(start..<end), &words) }
        partial.append(contentsOf: bytes.extracting(end...))
    }

    /// The words after the last block or two: what is left, a bit, zeros, and the length in bits.
    func finished<Words>(
        _ words: Words, bigEndianLength: Bool, _ process: (Span<UInt8>, inout Words) -> Void
    ) -> Words {
        var words = words
        let end = padded(bigEndianLength: bigEndianLength)
        process(end.span, &words)
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
