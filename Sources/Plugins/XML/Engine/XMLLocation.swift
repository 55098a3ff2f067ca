/// A position in a document: behind the bytes that were counted.
struct XMLLocation: Sendable {
    /// From 1; lines end with LF.
    var line = 1
    /// In characters, from 1.
    var column = 1

    /// The position behind some more bytes of UTF-8.
    func behind(_ bytes: UnsafeBufferPointer<UInt8>) -> XMLLocation {
        var location = self
        var start = 0
        if let last = bytes.lastIndex(of: UInt8(ascii: "\n")) {
            var lines = 0
            for byte in bytes where byte == UInt8(ascii: "\n") { lines += 1 }
            location = XMLLocation(line: line + lines, column: 1)
            start = last + 1
        }
        for index in start..<bytes.count where bytes[index] & 0xC0 != 0x80 { location.column += 1 }
        return location
    }
}
