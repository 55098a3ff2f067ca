import ErrandEssentials
import ErrandSupport

/// Finds bytes among others.
enum ByteSearch {
    static func contains(_ needle: [UInt8], in data: Data) -> Bool {
        data.withUnsafeBytes { firstIndex(of: needle, in: $0) } != nil
    }

    /// The first index, at or after `start`, at which `needle`, which is not empty, begins.
    static func firstIndex(of needle: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        guard let base = bytes.baseAddress, let first = needle.first else { return nil }
        var offset = start
        let last = bytes.count - needle.count
        while offset <= last {
            guard let found = memchr(base + offset, Int32(first), last - offset + 1) else { return nil }
            offset = UnsafeRawPointer(found) - base
            if memcmp(found, needle, needle.count) == 0 { return offset }
            offset += 1
        }
        return nil
    }
}
