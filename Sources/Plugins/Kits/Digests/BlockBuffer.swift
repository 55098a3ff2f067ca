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
        _ bytes: UnsafeRawBufferPointer, into words: inout Words,
        _ process: (UnsafeRawBufferPointer, inout Words) -> Void
    ) {
        var rest = bytes[...]
        byteCount &+= UInt64(bytes.count)
        if !partial.isEmpty {
            let missing = rest.prefix(Self.blockByteCount - partial.count)
            partial.append(contentsOf: missing)
            rest = rest.dropFirst(missing.count)
            guard partial.count == Self.blockByteCount else { return }
            partial.withUnsafeBytes { process($0, &words) }
            partial.removeAll(keepingCapacity: true)
        }
        let whole = rest.prefix(rest.count & ~(Self.blockByteCount - 1))
        if !whole.isEmpty { process(UnsafeRawBufferPointer(rebasing: whole), &words) }
        partial.append(contentsOf: rest.dropFirst(whole.count))
    }

    /// The words after the last block or two: what is left, a bit, zeros, and the length in bits.
    func finished<Words>(
        _ words: Words, bigEndianLength: Bool, _ process: (UnsafeRawBufferPointer, inout Words) -> Void
    ) -> Words {
        var words = words
        padded(bigEndianLength: bigEndianLength).withUnsafeBytes { process($0, &words) }
        return words
    }

    private func padded(bigEndianLength: Bool) -> [UInt8] {
        var block = partial
        block.reserveCapacity(2 * Self.blockByteCount)
        block.append(0x80)
        let zeros = (2 * Self.blockByteCount - 8 - block.count) % Self.blockByteCount
        block.append(contentsOf: repeatElement(0, count: zeros))
        let bits = byteCount &* 8
        withUnsafeBytes(of: bigEndianLength ? bits.bigEndian : bits.littleEndian) { block.append(contentsOf: $0) }
        return block
    }
}

extension UnsafeRawBufferPointer {
    /// A word at an offset, wherever it lies in memory.
    @inline(__always)
    func word(at offset: Int) -> UInt32 { loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
}

extension UInt32 {
    @inline(__always)
    func rotatedLeft(_ count: UInt32) -> UInt32 { self &<< count | self &>> (32 &- count) }

    @inline(__always)
    func rotatedRight(_ count: UInt32) -> UInt32 { self &>> count | self &<< (32 &- count) }
}
