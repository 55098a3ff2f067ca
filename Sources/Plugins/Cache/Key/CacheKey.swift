import ErrandSupport

/// Under which an entry is stored: a text that says what was asked, without a secret, and its SHA-256.
public struct CacheKey: Hashable, Sendable, CustomStringConvertible {
    /// The canonical text: a line for each thing that matters.
    public let text: String

    /// A key of a text of one's own, for tests of stores.
    public init(_ text: String) { self.text = text }

    /// SHA-256 of the text in 64 hexadecimal digits, fit for a file's name. Worked out anew at each call.
    public var digest: String { Hexadecimal.text(digestBytes) }

    /// The 32 bytes of the digest.
    public var digestBytes: [UInt8] { SHA256Digest.digest(of: text.utf8) }

    /// Byte by byte: keys that Unicode calls equivalent are not the same.
    public static func == (a: CacheKey, b: CacheKey) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The text.
    public var description: String { text }
}
