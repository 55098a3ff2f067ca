import ErrandDigests
import ErrandSupport

/// The key of an entry: a canonical text that identifies the request without secrets, and its SHA-256 digest.
public struct CacheKey: Hashable, Sendable, CustomStringConvertible {
    /// The canonical text: one line for each component.
    public let text: String

    /// Makes a key of any text, for tests of stores.
    public init(_ text: String) { self.text = text }

    /// SHA-256 of the text in 64 hexadecimal digits, which can be a file name. Calculated at each call.
    public var digest: String { Hexadecimal.text(digestBytes) }

    /// The 32 bytes of the digest.
    public var digestBytes: [UInt8] { SHA256Digest.digest(of: text.utf8) }

    /// Compares byte by byte: canonically equivalent texts are different keys.
    public static func == (a: CacheKey, b: CacheKey) -> Bool { a.text.hasSameBytes(as: b.text) }

    /// Hashes the text: canonically equivalent texts have the same hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }

    /// The text.
    public var description: String { text }
}
