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
        var place = start
        let last = bytes.count - needle.count
        while place <= last {
            guard let found = memchr(base + place, Int32(first), last - place + 1) else { return nil }
            place = UnsafeRawPointer(found) - base
            if memcmp(found, needle, needle.count) == 0 { return place }
            place += 1
        }
        return nil
    }
}
