import ErrandEssentials
import ErrandSupport

/// Encodes numbers as little-endian and texts with a length prefix.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ value: UInt8) { bytes.append(value) }
    mutating func add(_ value: UInt32) { bytes.append(littleEndian: value) }
    mutating func add(_ value: UInt64) { bytes.append(littleEndian: value) }

    mutating func add(_ value: String) {
        add(UInt32(clamping: value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func add(_ value: String?) {
        add(UInt8(value == nil ? 0 : 1))
        if let value { add(value) }
    }

    mutating func add(_ values: [String]) {
        add(UInt32(clamping: values.count))
        values.forEach { add($0) }
    }
}
