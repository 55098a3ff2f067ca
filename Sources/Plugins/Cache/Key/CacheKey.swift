import ErrandDigests
import ErrandSupport

/// The key of an entry: a canonical text that identifies the request without secrets.
public struct CacheKey: Hashable, Sendable, CustomStringConvertible {
    /// The canonical text, with one line per component.
    public let text: String

    /// Creates a key from any text, for tests of stores.
    public init(_ text: String) { self.text = text }

    /// The SHA-256 digest of the text as 64 hexadecimal digits, usable as a file name. Computed on each access.
    public var digest: String { Hexadecimal.text(digestBytes) }

    /// The digest as 32 bytes.
    public var digestBytes: [UInt8] { SHA256Digest.digest(of: text.utf8) }

    /// Compares bytes, so canonically equivalent texts are different keys.
    public static func == (a: CacheKey, b: CacheKey) -> Bool { a.text.hasSameBytes(as: b.text) }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }

    /// The text.
    public var description: String { text }
}
