/// A position in a document: behind the bytes that were counted.
struct XMLPlace: Sendable {
    /// From 1; lines end with LF.
    var line = 1
    /// In characters, from 1.
    var column = 1

    /// The position behind some more bytes of UTF-8.
    func behind(_ bytes: UnsafeBufferPointer<UInt8>) -> XMLPlace {
        var place = self
        var start = 0
        if let last = bytes.lastIndex(of: UInt8(ascii: "\n")) {
            var lines = 0
            for byte in bytes where byte == UInt8(ascii: "\n") { lines += 1 }
            place = XMLPlace(line: line + lines, column: 1)
            start = last + 1
        }
        for index in start..<bytes.count where bytes[index] & 0xC0 != 0x80 { place.column += 1 }
        return place
    }
}

/// Bytes that are read, and their position in the document.
struct XMLPart {
    let bytes: UnsafeBufferPointer<UInt8>
    let place: XMLPlace

    var count: Int { bytes.count }
    subscript(_ index: Int) -> UInt8 { bytes[index] }
    /// The eight bytes from an index on.
    func word(_ index: Int) -> UInt64 {
        UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    subscript(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[range]) }

    /// An error before the byte at an index.
    func failure(_ code: XMLError.Code, _ message: String, _ index: Int) -> XMLError {
        XMLError(code, message, at: place.behind(self[0..<min(index, count)]))
    }

    func malformed(_ message: String, _ index: Int) -> XMLError { failure(.malformed, message, index) }

    func string(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }
}
