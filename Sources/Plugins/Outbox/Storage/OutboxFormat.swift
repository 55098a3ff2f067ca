import ErrandEssentials
import ErrandSupport

/// The file format of the log. The log contains the events of entries, in order. Numbers are little-endian.
///
/// ```
///   0  "ERRANDO1"; the last character is the format's version. Records follow:
///
///   0  mark: FF 4F 42 52; FF never occurs in UTF-8, so request content can't look like a record
///   4  kind, 4 bytes
///   8  number of the entry, 8 bytes
///  16  length of the payload, 8 bytes
///  24  checksum of the above, 8 bytes
///  32  the payload and its checksum, 8 bytes; both omitted if the length is 0
/// ```
///
/// If a part of the file is damaged, a reader looks for the next valid head, so only the damaged records are lost.
/// Records without a payload are written twice. Otherwise a single damaged byte could bring a removed entry back.
enum OutboxFormat {
    static let prefix = Array("ERRANDO1".utf8)
    static let mark: [UInt8] = [0xFF, 0x4F, 0x42, 0x52]
    static let headSize = 32
    static let sumSize = 8
    /// The greatest number that an entry may have after a gap. Entries that follow without a gap may have greater
    /// numbers.
    static let maximumID: UInt64 = 1 << 62
    /// The first number that the outbox doesn't use for an entry, because a reader would reject it.
    static let maximumNext: UInt64 = 1 << 63
    /// The maximum length of a payload in bytes. A record with a greater length counts as damaged.
    static let maximumPayload = 32 << 20

    enum Kind: UInt32 {
        /// Sets the number of the next new entry. The record's number is this number.
        case next = 1
        /// A new entry, or new content of an entry.
        case put = 2
        /// Records that a replaceable entry may reach a server from now on.
        case begun = 3
        /// Records that the entry can be replaced again, because it didn't reach a server, or because the server
        /// refused it.
        case released = 4
        /// Records that an entry was sent. All earlier entries in the lane were sent or removed too.
        case sent = 5
        case removed = 6
    }

    struct Head {
        var kind: Kind
        var id: UInt64
        var length: Int

        var size: Int { headSize + (length == 0 ? 0 : length + sumSize) }
    }

    static func head(_ bytes: Span<UInt8>, at offset: Int, next: UInt64) -> Head? {
        guard bytes.count - offset >= headSize, bytes.contains(mark, at: offset),
            checksum(bytes.extracting(offset..<(offset + 24))) == bytes.littleEndian(at: offset + 24),
            let kind = Kind(rawValue: bytes.littleEndian(at: offset + 4))
        else { return nil }
        let (id, length) = (
            bytes.littleEndian(at: offset + 8, as: UInt64.self), bytes.littleEndian(at: offset + 16, as: UInt64.self)
        )
        let greatest = kind == .next ? maximumNext : min(max(next, maximumID), maximumNext - 1)
        guard id <= greatest, length <= UInt64(maximumPayload), (length > 0) == (kind == .put) else { return nil }
        return Head(kind: kind, id: id, length: Int(length))
    }

    /// Returns a checksum: 64-bit FNV-1a with a final mix. It detects every change of a single byte, and misses other
    /// damage once in 10^19 times. It doesn't detect forgery, but only the owner can access the file.
    static func checksum(_ bytes: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
        return hash ^ hash >> 32
    }

    @discardableResult
    static func add(_ kind: Kind, id: UInt64, payload: [UInt8] = [], to bytes: inout [UInt8]) -> Int {
        for _ in 0..<(kind == .put ? 1 : 2) {
            let start = bytes.count
            bytes += mark
            bytes.append(littleEndian: kind.rawValue)
            bytes.append(littleEndian: id)
            bytes.append(littleEndian: UInt64(payload.count))
            bytes.append(littleEndian: bytes.withSpan { checksum($0.extracting(start...)) })
        }
        let start = bytes.count
        if kind == .put {
            bytes += payload
            bytes.append(littleEndian: payload.withSpan { checksum($0) })
        }
        return start
    }
}
