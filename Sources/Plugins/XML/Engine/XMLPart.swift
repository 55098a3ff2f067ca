/// Bytes that are read, and their position in the document.
struct XMLPart {
    let bytes: [UInt8]
    let location: XMLLocation

    var count: Int { bytes.count }
    subscript(_ index: Int) -> UInt8 { bytes[index] }
    /// The eight bytes from an index on, in one load.
    func word(_ index: Int) -> UInt64 {
        let bytes = bytes.span.extracting(index..<(index + 8))
        var word: UInt64 = 0
        for index in 0..<8 { word |= UInt64(bytes[index]) &<< UInt64(8 &* index) }
        return word
    }

    subscript(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// The position before the byte at an index.
    func location(of index: Int) -> XMLLocation { location.behind(bytes.span.extracting(0..<index)) }

    /// An error before the byte at an index.
    func failure(_ code: XMLError.Code, _ message: String, _ index: Int) -> XMLError {
        XMLError(code, message, at: location(of: min(index, count)))
    }

    func malformed(_ message: String, _ index: Int) -> XMLError { failure(.malformed, message, index) }

    func string(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }
}
