import ErrandEssentials
import ErrandSupport

/// Decodes the output of ``ByteWriter`` and validates every length.
struct ByteReader {
    struct Fault: Error {}

    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func byte() throws(Fault) -> UInt8 {
        guard offset < bytes.count else { throw Fault() }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func uint32() throws(Fault) -> UInt32 { try number() }
    mutating func uint64() throws(Fault) -> UInt64 { try number() }

    private mutating func number<Number: FixedWidthInteger & BitwiseCopyable>() throws(Fault) -> Number {
        guard bytes.count - offset >= MemoryLayout<Number>.size else { throw Fault() }
        defer { offset += MemoryLayout<Number>.size }
        return bytes.withSpan { $0.littleEndian(at: offset) }
    }

    /// Reads a number of elements. Rejects numbers that can't fit, because each element has at least four bytes.
    mutating func count() throws(Fault) -> Int {
        let count = Int(try uint32())
        guard count <= (bytes.count - offset) / 4 else { throw Fault() }
        return count
    }

    mutating func string() throws(Fault) -> String {
        let count = Int(try uint32())
        guard count <= bytes.count - offset else { throw Fault() }
        defer { offset += count }
        let text = bytes.withSpan { String(validating: $0.extracting(offset..<(offset + count))) }
        guard let text else { throw Fault() }
        return text
    }

    mutating func optionalString() throws(Fault) -> String? { try byte() == 0 ? nil : try string() }

    mutating func strings() throws(Fault) -> [String] {
        var result: [String] = []
        for _ in 0..<(try count()) { result.append(try string()) }
        return result
    }

    mutating func date() throws(Fault) -> Date {
        let seconds = Double(bitPattern: try uint64())
        guard seconds.isFinite else { throw Fault() }
        return Date(timeIntervalSince1970: seconds)
    }

    mutating func seconds() throws(Fault) -> Int64? {
        let value = try uint64()
        if value == .max { return nil }
        guard value <= 1 << 40 else { throw Fault() }
        return Int64(value)
    }
}
