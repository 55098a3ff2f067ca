import Errand
import ErrandEssentials
import ErrandSupport

/// An entry's file, named after the digest of its key. Numbers are little-endian.
///
/// ```
///   0  "ERRANDC2"; the last character is the version of the format
///   8  length of each slot for a head, 4 bytes
///  12  number of slots: 1, or 2 so that a new head can be written next to the old one, 4 bytes
///  16  length of the body before sealing, 8 bytes
///  24  length of the file, 8 bytes
///  32  random seed of the checksums, 8 bytes
///  40  the digest of the key, 32 bytes
///  72  checksum of all of the above, 8 bytes
///  80  the slots: length of the head, 4 bytes; its number, 8 bytes; checksum of these and the head, 8 bytes; the head
///      then the chunks: length, 4 bytes; bytes; checksum, 8 bytes
/// ```
///
/// An update writes the new head, then clears the old head's slot. If the writer is killed before the new head is
/// complete, the old head stays valid. If the writer is killed before it clears the old slot, the head with the higher
/// number is valid. Later damage to the new head makes the entry invalid and never restores an older head.
///
/// Changed bytes, a truncated file and a wrong file name each fail a check before any byte is served.
struct DiskFormat: Sendable, Hashable {
    static let prefixLength = 80
    static let chunkLength = 256 << 10
    static let slotOverhead = 20
    private static let magic = Array("ERRANDC2".utf8)

    var slotLength: Int
    var slots: Int
    var bodyLength: Int64
    var fileLength: Int64
    var seed: UInt64
    var digest: [UInt8]

    var bodyStart: Int { Self.prefixLength + slots * slotLength }

    var prefix: Data {
        var writer = ByteWriter()
        Self.magic.forEach { writer.add($0) }
        writer.add(UInt32(clamping: slotLength))
        writer.add(UInt32(clamping: slots))
        writer.add(UInt64(clamping: bodyLength))
        writer.add(UInt64(clamping: fileLength))
        writer.add(seed)
        digest.forEach { writer.add($0) }
        writer.add(DiskChecksum.of(writer.bytes, seed: seed))
        return Data(writer.bytes)
    }

    init?(_ bytes: Span<UInt8>, digest: [UInt8], fileLength: Int64) {
        guard bytes.count >= Self.prefixLength else { return nil }
        let prefix = bytes.extracting(..<Self.prefixLength)
        guard prefix.contains(Self.magic), prefix.contains(digest, at: 40) else { return nil }
        let (slotLength, slots): (UInt32, UInt32) = (prefix.littleEndian(at: 8), prefix.littleEndian(at: 12))
        let (bodyLength, length): (UInt64, UInt64) = (prefix.littleEndian(at: 16), prefix.littleEndian(at: 24))
        let seed: UInt64 = prefix.littleEndian(at: 32)
        guard slots == 1 || slots == 2, length == UInt64(clamping: fileLength),
            Int64(slotLength) * Int64(slots) <= fileLength - Int64(Self.prefixLength),
            slotLength >= UInt32(Self.slotOverhead), bodyLength <= UInt64(clamping: fileLength),
            DiskChecksum.of(prefix.extracting(..<72), seed: seed) == prefix.littleEndian(at: 72)
        else { return nil }
        self.slotLength = Int(slotLength)
        self.slots = Int(slots)
        self.bodyLength = Int64(bodyLength)
        self.fileLength = fileLength
        self.seed = seed
        self.digest = digest
    }

    /// - Parameter hasRoom: Whether to reserve a slot for a new, possibly longer head.
    init(headLength: Int, hasRoom: Bool, seed: UInt64, digest: [UInt8]) {
        slots = hasRoom ? 2 : 1
        slotLength = Self.slotOverhead + (hasRoom ? headLength + headLength / 4 + 256 : headLength)
        (bodyLength, fileLength) = (0, 0)
        self.seed = seed
        self.digest = digest
    }

    func slot(_ head: Data, number: UInt64) -> Data {
        var writer = ByteWriter()
        writer.add(UInt32(clamping: head.count))
        writer.add(number)
        writer.add(DiskChecksum.of(Data(writer.bytes) + head, seed: seed &- 1))
        return Data(writer.bytes) + head
    }

    /// A head and its slot. The slot's range is relative to the first slot.
    struct Head: Sendable {
        var range: Range<Int>
        var slot: Int
        var number: UInt64
    }

    func head(in bytes: Span<UInt8>) -> Head? {
        guard bytes.count >= slots * slotLength else { return nil }
        var best: Head?
        for slot in 0..<slots {
            let start = slot * slotLength
            let length = Int(clamping: bytes.littleEndian(at: start, as: UInt32.self))
            let room = slotLength - Self.slotOverhead
            guard slots == 1 ? length == room : length <= room else { continue }
            let number: UInt64 = bytes.littleEndian(at: start + 4)
            let range = (start + Self.slotOverhead)..<(start + Self.slotOverhead + length)
            var checked: [UInt8] = []
            checked.reserveCapacity(12 + length)
            checked.append(contentsOf: bytes.extracting(start..<(start + 12)))
            checked.append(contentsOf: bytes.extracting(range))
            let sum = DiskChecksum.of(checked, seed: seed &- 1)
            guard sum == bytes.littleEndian(at: start + 12), number > best?.number ?? 0 else { continue }
            best = Head(range: range, slot: slot, number: number)
        }
        return best
    }

    func payload(_ bytes: Span<UInt8>, at offset: Int, number: UInt64) -> Range<Int>? {
        guard offset >= 0, bytes.count - offset >= 12 else { return nil }
        let length = Int(clamping: bytes.littleEndian(at: offset, as: UInt32.self))
        guard length > 0, length <= bytes.count - offset - 12 else { return nil }
        let range = (offset + 4)..<(offset + 4 + length)
        let sum = DiskChecksum.of(bytes.extracting(range), seed: seed &+ 1 &+ number)
        return sum == bytes.littleEndian(at: range.upperBound) ? range : nil
    }

    static func chunk(_ payload: Data, number: UInt64, seed: UInt64) -> Data {
        var writer = ByteWriter()
        writer.add(UInt32(clamping: payload.count))
        var result = Data(writer.bytes)
        result.append(payload)
        var end = ByteWriter()
        end.add(DiskChecksum.of(payload, seed: seed &+ 1 &+ number))
        result.append(contentsOf: end.bytes)
        return result
    }
}

/// The XXH64 checksum, which is fast and misses damage with a probability of 1 in 10^19. It doesn't detect forgery, but
/// only the owner can access the files.
enum DiskChecksum {
    static func of(_ data: Data, seed: UInt64 = 0) -> UInt64 { of(data.span, seed: seed) }
    static func of(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 { bytes.withSpan { of($0, seed: seed) } }

    static func of(_ bytes: Span<UInt8>, seed: UInt64 = 0) -> UInt64 {
        var offset = 0
        var hash: UInt64
        if bytes.count >= 32 {
            var (a, b) = (seed &+ p1 &+ p2, seed &+ p2)
            var (c, d) = (seed, seed &- p1)
            let end = bytes.count & ~31
            while offset < end {
                a = round(a, bytes.littleEndian(at: offset))
                b = round(b, bytes.littleEndian(at: offset + 8))
                c = round(c, bytes.littleEndian(at: offset + 16))
                d = round(d, bytes.littleEndian(at: offset + 24))
                offset += 32
            }
            hash = rotated(a, 1) &+ rotated(b, 7) &+ rotated(c, 12) &+ rotated(d, 18)
            for lane in [a, b, c, d] { hash = (hash ^ round(0, lane)) &* p1 &+ p4 }
        } else {
            hash = seed &+ p5
        }
        hash &+= UInt64(bytes.count)
        while bytes.count - offset >= 8 {
            hash = rotated(hash ^ round(0, bytes.littleEndian(at: offset)), 27) &* p1 &+ p4
            offset += 8
        }
        if bytes.count - offset >= 4 {
            let value = UInt64(bytes.littleEndian(at: offset, as: UInt32.self))
            hash = rotated(hash ^ (value &* p1), 23) &* p2 &+ p3
            offset += 4
        }
        while offset < bytes.count {
            hash = rotated(hash ^ (UInt64(bytes[offset]) &* p5), 11) &* p1
            offset += 1
        }
        hash = (hash ^ (hash >> 33)) &* p2
        hash = (hash ^ (hash >> 29)) &* p3
        return hash ^ (hash >> 32)
    }

    private static let p1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let p2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let p3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let p4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let p5: UInt64 = 0x27D4_EB2F_1656_67C5

    private static func round(_ lane: UInt64, _ value: UInt64) -> UInt64 {
        rotated(lane &+ value &* p2, 31) &* p1
    }

    private static func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 { value << count | value >> (64 - count) }
}
