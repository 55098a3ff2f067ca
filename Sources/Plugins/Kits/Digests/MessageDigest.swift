package import ErrandEssentials
import ErrandSupport

/// A digest that is updated piece by piece. As a protocol, it allows faster implementations to replace these.
package protocol MessageDigest: Sendable {
    /// The block size in bytes, which HMAC requires.
    static var blockByteCount: Int { get }
    init()
    mutating func update(_ bytes: Span<UInt8>)
    /// Returns the digest of all bytes so far. You can add more bytes and call it again.
    func finalized() -> [UInt8]
}

extension MessageDigest {
    package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }
    package mutating func update(_ bytes: ArraySlice<UInt8>) { update(bytes.span) }
    package mutating func update(_ data: Data) { update(data.span) }
    package mutating func update(_ text: String.UTF8View) { String(text).withSpan { update($0) } }

    /// Copies the bytes of any other sequence first.
    package mutating func update(_ bytes: some Sequence<UInt8>) { update(Array(bytes).span) }

    package static func digest(of bytes: Span<UInt8>) -> [UInt8] {
        var digest = Self()
        digest.update(bytes)
        return digest.finalized()
    }

    package static func digest(of bytes: [UInt8]) -> [UInt8] { digest(of: bytes.span) }
    package static func digest(of data: Data) -> [UInt8] { digest(of: data.span) }
    package static func digest(of text: String.UTF8View) -> [UInt8] { String(text).withSpan { digest(of: $0) } }

    package static func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var digest = Self()
        digest.update(bytes)
        return digest.finalized()
    }
}
