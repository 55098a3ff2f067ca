package import ErrandEssentials
import ErrandSupport

/// A small record in a file with two slots. Writes alternate between the slots, so at least one is always intact.
///
/// ```
///   0  magic, 8 bytes
///   8  sequence, 8 bytes, little-endian as all numbers
///  16  length of the content, 4 bytes
///  20  SHA-256 of the above and the content, 32 bytes
///  52  the content
/// ```
package enum RecordSlot {
    package static let size = 16 << 10
    private static let headSize = 8 + 8 + 4 + 32

    package static func bytes(_ payload: Data, sequence: UInt64, magic: [UInt8]) -> [UInt8]? {
        guard payload.count <= size - headSize else { return nil }
        var bytes = magic
        bytes.append(littleEndian: sequence)
        bytes.append(littleEndian: UInt32(payload.count))
        bytes += SHA256Digest.digest(of: bytes + payload)
        return bytes + payload
    }

    /// Returns the newest intact record at the start of a file.
    ///
    /// - Parameter decode: Returns `nil` if the content can't be used.
    package static func newest<Record>(
        _ bytes: [UInt8], magic: [UInt8], decode: (ArraySlice<UInt8>) -> Record?
    ) -> (record: Record, sequence: UInt64)? {
        [0, size].compactMap { start -> (record: Record, sequence: UInt64)? in
            guard start < bytes.count,
                let (payload, sequence) = content(bytes[start..<min(start + size, bytes.count)], magic),
                let record = decode(payload)
            else { return nil }
            return (record, sequence)
        }.max { $0.sequence < $1.sequence }
    }

    /// Returns `nil` if the slot is damaged or has the last possible sequence number.
    private static func content(_ slot: ArraySlice<UInt8>, _ magic: [UInt8]) -> (ArraySlice<UInt8>, UInt64)? {
        let bytes = ContiguousArray(slot)
        guard bytes.count >= headSize, bytes.starts(with: magic) else { return nil }
        let count = Int(clamping: bytes.span.littleEndian(at: 16, as: UInt32.self))
        guard count <= bytes.count - headSize else { return nil }
        let payload = bytes[headSize..<(headSize + count)]
        guard SHA256Digest.digest(of: bytes[..<20] + payload) == Array(bytes[20..<headSize]) else { return nil }
        let sequence = bytes.span.littleEndian(at: 8, as: UInt64.self)
        return sequence < .max ? (payload, sequence) : nil
    }
}
