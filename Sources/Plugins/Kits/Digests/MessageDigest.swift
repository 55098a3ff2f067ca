package import ErrandEssentials
import ErrandSupport

/// A digest fed piece by piece; the seam at which a faster implementation takes the place of one written here.
package protocol MessageDigest: Sendable {
    /// Bytes in a block, which is what HMAC needs to know.
    static var blockByteCount: Int { get }
    init()
    mutating func update(_ bytes: Span<UInt8>)
    /// The digest of everything so far. The value itself is not changed: more may follow, and be asked for again.
    func finalized() -> [UInt8]
}

extension MessageDigest {
    package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }
    package mutating func update(_ bytes: ArraySlice<UInt8>) { update(bytes.span) }
    package mutating func update(_ data: Data) { update(data.span) }
    package mutating func update(_ text: String.UTF8View) { String(text).withSpan { update($0) } }

    /// For bytes of any other kind, which are copied first.
    package mutating func update(_ bytes: some Sequence<UInt8>) { update(Array(bytes).span) }

    /// The digest of bytes in memory.
    package static func digest(of bytes: Span<UInt8>) -> [UInt8] {
        var digest = Self()
        digest.update(bytes)
        return digest.finalized()
    }

    package static func digest(of bytes: [UInt8]) -> [UInt8] { digest(of: bytes.span) }
    package static func digest(of data: Data) -> [UInt8] { digest(of: data.span) }
    package static func digest(of text: String.UTF8View) -> [UInt8] { String(text).withSpan { digest(of: $0) } }

    /// The digest of one piece.
    package static func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var digest = Self()
        digest.update(bytes)
        return digest.finalized()
    }
}
