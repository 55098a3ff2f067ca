/// Bytes that are read, and their position in the document.
struct XMLPart {
    let bytes: UnsafeBufferPointer<UInt8>
    let location: XMLLocation

    var count: Int { bytes.count }
    subscript(_ index: Int) -> UInt8 { bytes[index] }
    /// The eight bytes from an index on.
    func word(_ index: Int) -> UInt64 {
        UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    subscript(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[range]) }

    /// An error before the byte at an index.
    func failure(_ code: XMLError.Code, _ message: String, _ index: Int) -> XMLError {
        XMLError(code, message, at: location.behind(self[0..<min(index, count)]))
    }

    func malformed(_ message: String, _ index: Int) -> XMLError { failure(.malformed, message, index) }

    func string(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }
}
