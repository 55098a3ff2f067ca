import Errand

import ErrandEssentials

/// The bytes of an entry's file, whose name is the digest of its key. Numbers are little endian.
///
/// ```
///   0  "ERRANDC2"; the last character is the version of the format
///   8  length of each place for a head, 4 bytes
///  12  how many places there are: 1, or 2 so that a new head can be written beside the old one, 4 bytes
///  16  length of the body as it was given, 8 bytes
///  24  length of the file, 8 bytes
///  32  a number by chance that seeds the checksums, 8 bytes
///  40  the digest of the key, 32 bytes
///  72  checksum of all of the above, 8 bytes
///  80  the places: length of the head, 4 bytes; its number, 8 bytes; checksum of these and the head, 8 bytes; the head
///      then the chunks: length, 4 bytes; bytes; checksum, 8 bytes
/// ```
///
/// Of two heads the one with the higher number counts. A writer that is killed in the middle of a new head leaves a wrong
/// checksum, and so the old head. A byte that changed, a missing end, a file under another name: each fails a check before
/// a byte of it is served.
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

    /// Where the chunks begin.
    var bodyStart: Int { Self.prefixLength + slots * slotLength }

    /// The first bytes.
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

    /// What a file of this length starts with; nil for what is damaged, foreign or of another version.
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

    /// - Parameter hasRoom: whether a new head has a place, and room to be somewhat longer.
    init(headLength: Int, hasRoom: Bool, seed: UInt64, digest: [UInt8]) {
        slots = hasRoom ? 2 : 1
        slotLength = Self.slotOverhead + (hasRoom ? headLength + headLength / 4 + 256 : headLength)
        (bodyLength, fileLength) = (0, 0)
        self.seed = seed
        self.digest = digest
    }

    /// A head as it stands in its place.
    func slot(_ head: Data, number: UInt64) -> Data {
        var writer = ByteWriter()
        writer.add(UInt32(clamping: head.count))
        writer.add(number)
        writer.add(Checksum.of(Data(writer.bytes) + head, seed: seed &- 1))
        return Data(writer.bytes) + head
    }

    /// The head that counts, its place and its number; nil if none is whole.
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

    /// A chunk as it is written.
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
