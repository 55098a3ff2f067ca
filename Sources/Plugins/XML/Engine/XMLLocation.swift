/// A position in a document: behind the bytes that were counted.
struct XMLLocation: Sendable {
    /// From 1; lines end with LF.
    var line = 1
    /// In characters, from 1.
    var column = 1

    /// The position behind some more bytes of UTF-8.
    func behind(_ bytes: Span<UInt8>) -> XMLLocation {
        var location = self
        var start = 0
        var lines = 0
        for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") { lines += 1 }
        if lines > 0 {
            location = XMLLocation(line: line + lines, column: 1)
            start = bytes.count
            while bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
        }
        for index in start..<bytes.count where bytes[index] & 0xC0 != 0x80 { location.column += 1 }
        return location
    }
}
