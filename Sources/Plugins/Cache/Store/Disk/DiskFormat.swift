import Errand

import ErrandEssentials

/// The format of an entry's file, whose name is the digest of its key. Numbers are little-endian.
///
/// ```
///   0  "ERRANDC2"; the last character is the version of the format
///   8  length of each slot for a head, 4 bytes
///  12  number of slots: 1, or 2 so that a new head can be written beside the old one, 4 bytes
///  16  length of the body before sealing, 8 bytes
///  24  length of the file, 8 bytes
///  32  random seed of the checksums, 8 bytes
///  40  the digest of the key, 32 bytes
///  72  checksum of all of the above, 8 bytes
///  80  the slots: length of the head, 4 bytes; its number, 8 bytes; checksum of these and the head, 8 bytes; the head
///      then the chunks: length, 4 bytes; bytes; checksum, 8 bytes
/// ```
///
/// Of two heads the one with the higher number is valid. A writer that is killed while it writes a new head leaves a wrong
/// checksum, so that the old head stays valid. A changed byte, a missing end and a file under another name each fail a
/// check before a byte is served.
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

    /// The offset of the first chunk.
    var bodyStart: Int { Self.prefixLength + slots * slotLength }

    /// The first bytes of the file.
    var prefix: Data {
        var writer = ByteWriter()
        Self.magic.forEach { writer.add($0) }
        writer.add(UInt32(clamping: slotLength))
        writer.add(UInt32(clamping: slots))
        writer.add(UInt64(clamping: bodyLength))
        writer.add(UInt64(clamping: fileLength))
        writer.add(seed)
        digest.forEach { writer.add($0) }
        writer.add(Checksum.of(Data(writer.bytes), seed: seed))
        return Data(writer.bytes)
    }

    /// Reads the prefix of a file; nil if it is damaged, foreign or of another version.
    init?(prefix: Data, digest: [UInt8], fileLength: Int64) {
        guard prefix.count == Self.prefixLength, prefix.starts(with: Self.magic) else { return nil }
        var reader = ByteReader(prefix.dropFirst(8))
        guard let slotLength = try? reader.uint32(), let slots = try? reader.uint32(),
            let bodyLength = try? reader.uint64(), let length = try? reader.uint64(), let seed = try? reader.uint64()
        else { return nil }
        let start = prefix.startIndex
        guard slots == 1 || slots == 2, length == UInt64(clamping: fileLength),
            Int64(slotLength) * Int64(slots) <= fileLength - Int64(Self.prefixLength),
            slotLength >= UInt32(Self.slotOverhead), bodyLength <= UInt64(clamping: fileLength),
            prefix[(start + 40)..<(start + 72)].elementsEqual(digest),
            Checksum.of(prefix.prefix(72), seed: seed) == Self.number(prefix.suffix(8))
        else { return nil }
        self.slotLength = Int(slotLength)
        self.slots = Int(slots)
        self.bodyLength = Int64(bodyLength)
        self.fileLength = fileLength
        self.seed = seed
        self.digest = digest
    }

    /// - Parameter hasRoom: whether there is a slot for a new head, which may be somewhat longer.
    init(headLength: Int, hasRoom: Bool, seed: UInt64, digest: [UInt8]) {
        slots = hasRoom ? 2 : 1
        slotLength = Self.slotOverhead + (hasRoom ? headLength + headLength / 4 + 256 : headLength)
        (bodyLength, fileLength) = (0, 0)
        self.seed = seed
        self.digest = digest
    }

    /// A head with the length, number and checksum of its slot.
    func slot(_ head: Data, number: UInt64) -> Data {
        var writer = ByteWriter()
        writer.add(UInt32(clamping: head.count))
        writer.add(number)
        writer.add(Checksum.of(Data(writer.bytes) + head, seed: seed &- 1))
        return Data(writer.bytes) + head
    }

    /// The valid head, its slot and its number; nil if there is none.
    func head(in slots: Data) -> (head: Data, place: Int, number: UInt64)? {
        var best: (head: Data, place: Int, number: UInt64)?
        for place in 0..<self.slots {
            let slot = slots.dropFirst(place * slotLength).prefix(slotLength)
            guard slot.count == slotLength else { return nil }
            let length = Int(Self.number(slot.prefix(4)))
            let isWhole = self.slots == 1 ? length == slotLength - Self.slotOverhead : true
            guard isWhole, length <= slotLength - Self.slotOverhead else { continue }
            let number = Self.number(slot.dropFirst(4).prefix(8))
            let head = slot.dropFirst(Self.slotOverhead).prefix(length)
            let sum = Checksum.of(Data(slot.prefix(12)) + head, seed: seed &- 1)
            guard sum == Self.number(slot.dropFirst(12).prefix(8)), number > best?.number ?? 0 else { continue }
            best = (Data(head), place, number)
        }
        return best
    }

    /// A chunk with its length and checksum.
    static func chunk(_ payload: Data, number: UInt64, seed: UInt64) -> Data {
        var writer = ByteWriter()
        writer.add(UInt32(clamping: payload.count))
        var result = Data(writer.bytes)
        result.append(payload)
        var end = ByteWriter()
        end.add(Checksum.of(payload, seed: seed &+ 1 &+ number))
        result.append(contentsOf: end.bytes)
        return result
    }

    static func number(_ bytes: Data) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var value: UInt64 = 0
            for place in 0..<min(8, bytes.count) { value |= UInt64(bytes[place]) << UInt64(8 * place) }
            return value
        }
    }
}
