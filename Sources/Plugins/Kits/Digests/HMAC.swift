/// A keyed digest (RFC 2104) over any of the digests here.
///
/// ```swift
/// let code = HMAC<SHA256Digest>.code(for: message, key: key)
/// ```
package struct HMAC<Digest: MessageDigest>: Sendable {
    private var inner = Digest()
    private var outer = Digest()

    /// The key may have any length; one that is longer than a block counts as its digest.
    package init(key: some Sequence<UInt8>) {
        var block = Array(key)
        if block.count > Digest.blockByteCount { block = Digest.digest(of: block) }
        block += repeatElement(0, count: Digest.blockByteCount - block.count)
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5c })
    }

    package mutating func update(_ bytes: some Sequence<UInt8>) { inner.update(bytes) }

    /// The code of everything so far; more may follow.
    package func finalized() -> [UInt8] {
        var outer = outer
        outer.update(inner.finalized())
        return outer.finalized()
    }

    package static func code(for message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> [UInt8] {
        var hmac = HMAC(key: key)
        hmac.update(message)
        return hmac.finalized()
    }
}
