/// A digest fed piece by piece; the seam at which a faster implementation takes the place of one written here.
package protocol MessageDigest: Sendable {
    /// Bytes in a block, which is what HMAC needs to know.
    static var blockByteCount: Int { get }
    init()
    mutating func update(_ bytes: UnsafeRawBufferPointer)
    /// The digest of everything so far. The value itself is not changed: more may follow, and be asked for again.
    func finalized() -> [UInt8]
}

extension MessageDigest {
    /// For data of any kind; one that is not contiguous is copied first.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ update(UnsafeRawBufferPointer($0)) }) != nil { return }
        Array(bytes).withUnsafeBytes { update($0) }
    }

    /// The digest of one piece.
    package static func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var digest = Self()
        digest.update(bytes)
        return digest.finalized()
    }
}
