/// A SHA-256 that is updated piece by piece, using the platform's fastest implementation.
package protocol RunningSHA256: Sendable {
    mutating func update(_ bytes: Span<UInt8>)
    /// Returns the digest. Don't update it afterwards.
    func finalized() -> [UInt8]
}

package enum PlatformSHA256 {
    /// Returns the platform's implementation if there is one, or the portable one.
    package static func make() -> any RunningSHA256 { platform() ?? PortableSHA256() }
}

package struct PortableSHA256: RunningSHA256 {
    private var digest = SHA256Digest()

    package init() {}

    package mutating func update(_ bytes: Span<UInt8>) { digest.update(bytes) }
    package func finalized() -> [UInt8] { digest.finalized() }
}
