import ErrandEssentials
import ErrandSupport

/// The content of a log: what happened to entries, in order. Numbers are little-endian.
///
/// ```
///   0  "ERRANDO1"; the last character is the version of the format. The records follow:
///
///   0  mark: FF 4F 42 52; the first byte occurs in no text, so no content of a request looks like a record
///   4  kind, 4 bytes
///   8  number of the entry, 8 bytes
///  16  length of the content, 8 bytes
///  24  checksum of the above, 8 bytes
///  32  the content, and its checksum, 8 bytes; neither where the length is 0
/// ```
///
/// A reader that meets damage looks for the next valid head, so damage costs the records that it touches and no other.
/// A record without content is written twice: one damaged byte brings no entry back.
enum OutboxFormat {
    static let prefix = Array("ERRANDO1".utf8)
    static let mark: [UInt8] = [0xFF, 0x4F, 0x42, 0x52]
    static let headSize = 32
    static let sumSize = 8
    /// The greatest number to which a log may leap. The entries after it have greater ones, in sequence: these are read
    /// too.
    static let maximumID: UInt64 = 1 << 62
    /// The greatest number of the next entry. A log that was written anew may leap to it; where it is reached, no entry is
    /// added, as one after it could not be read.
    static let maximumNext: UInt64 = 1 << 63
    /// The longest content of a record.
    static let maximumPayload = 32 << 20

    enum Kind: UInt32 {
        /// The number is that of the next entry.
        case next = 1
        /// A new entry, or a new content of one.
        case put = 2
        /// A replaceable entry may have reached a server from now on.
        case begun = 3
        /// It has not.
        case released = 4
        /// It was sent, as were all before it in its lane.
        case sent = 5
        case removed = 6
    }

    struct Head {
        var kind: Kind
        var id: UInt64
        var length: Int

        /// The bytes of the record.
        var size: Int { headSize + (length == 0 ? 0 : length + sumSize) }
    }

    /// Nil unless a valid head begins there.
    ///
    /// - Parameter next: the number of the next entry, as far as the log was read.
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

    /// FNV-1a of 64 bits with a final mix: finds every changed byte, and other damage but for 1 in 10^19. It does not
    /// detect forgery: only the owner has access to the file.
    static func checksum(_ bytes: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
        return hash ^ hash >> 32
    }

    /// Adds a record, and returns where its content begins.
    @discardableResult
    static func add(_ kind: Kind, _ id: UInt64, _ payload: [UInt8] = [], to bytes: inout [UInt8]) -> Int {
        for _ in 0..<(kind == .put ? 1 : 2) {
            let start = bytes.count
            bytes += mark
            bytes.append(littleEndian: kind.rawValue)
            bytes.append(littleEndian: id)
            bytes.append(littleEndian: UInt64(payload.count))
            bytes.append(littleEndian: checksum(bytes.span.extracting(start...)))
        }
        let start = bytes.count
        if kind == .put {
            bytes += payload
            bytes.append(littleEndian: checksum(payload.span))
        }
        return start
    }
}
