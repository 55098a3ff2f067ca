import Errand

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The bytes of an entry's file, whose name is the digest of its key. Numbers are little endian.
///
/// ```
///   0  "ERRANDC1"; the last character is the version of the format
///   8  length of the head, 4 bytes
///  12  length of each chunk of the body but the last, 4 bytes
///  16  length of the body as it was given, 8 bytes
///  24  length of the file, 8 bytes
///  32  a number by chance that seeds the checksums, 8 bytes
///  40  the digest of the key, 32 bytes
///  72  checksum of all of the above and the head, 8 bytes
///  80  the head, then the chunks: length, 4 bytes; bytes; checksum, 8 bytes
/// ```
///
/// A byte that changed, a missing end, a file under another name: each fails a check before a byte of it is served.
struct DiskFormat: Sendable, Hashable {
    static let prefixLength = 80
    static let chunkLength = 256 << 10
    private static let magic = Array("ERRANDC1".utf8)

    var headLength: Int
    var bodyLength: Int64
    var fileLength: Int64
    var seed: UInt64
    var digest: [UInt8]

    /// The prefix and the head.
    func start(head: Data) -> Data {
        var writer = ByteWriter()
        Self.magic.forEach { writer.add($0) }
        writer.add(UInt32(clamping: headLength))
        writer.add(UInt32(Self.chunkLength))
        writer.add(UInt64(clamping: bodyLength))
        writer.add(UInt64(clamping: fileLength))
        writer.add(seed)
        digest.forEach { writer.add($0) }
        var checked = Data(writer.bytes)
        checked.append(head)
        let checksum = Checksum.of(checked, seed: seed)
        writer.add(checksum)
        return Data(writer.bytes) + head
    }

    /// What a file of this length starts with; nil for what is damaged, foreign or of another version.
    init?(prefix: Data, digest: [UInt8], fileLength: Int64) {
        guard prefix.count == Self.prefixLength, prefix.starts(with: Self.magic) else { return nil }
        var reader = ByteReader(prefix.dropFirst(8))
        guard let headLength = try? reader.uint32(), let chunkLength = try? reader.uint32(),
            let bodyLength = try? reader.uint64(), let length = try? reader.uint64(), let seed = try? reader.uint64()
        else { return nil }
        let start = prefix.startIndex
        guard chunkLength == UInt32(Self.chunkLength), length == UInt64(clamping: fileLength),
            Int64(headLength) <= fileLength - Int64(Self.prefixLength), bodyLength <= UInt64(clamping: fileLength),
            prefix[(start + 40)..<(start + 72)].elementsEqual(digest)
        else { return nil }
        self.headLength = Int(headLength)
        self.bodyLength = Int64(bodyLength)
        self.fileLength = fileLength
        self.seed = seed
        self.digest = digest
    }

    init(headLength: Int, bodyLength: Int64, fileLength: Int64, seed: UInt64, digest: [UInt8]) {
        self.headLength = headLength
        self.bodyLength = bodyLength
        self.fileLength = fileLength
        self.seed = seed
        self.digest = digest
    }

    /// Whether the checksum of prefix and head holds.
    func isIntact(prefix: Data, head: Data) -> Bool {
        let sum = withUnsafeTemporaryAllocation(byteCount: 72 + head.count, alignment: 8) { checked in
            prefix.withUnsafeBytes { checked.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(72))) }
            head.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: checked[72...]).copyMemory(from: $0) }
            return Checksum.of(UnsafeRawBufferPointer(checked), seed: seed)
        }
        return sum == Self.number(prefix.suffix(8))
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
