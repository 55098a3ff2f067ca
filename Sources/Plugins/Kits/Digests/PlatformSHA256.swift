/// A SHA-256 that is updated piece by piece, by the fastest implementation of the platform.
package protocol RunningSHA256: Sendable {
    mutating func update(_ bytes: Span<UInt8>)
    /// The digest; no update may follow.
    func finalized() -> [UInt8]
}

package enum PlatformSHA256 {
    /// The platform's own where there is one, otherwise the portable one.
    package static func make() -> any RunningSHA256 { platform() ?? PortableSHA256() }
}

package struct PortableSHA256: RunningSHA256 {
    private var digest = SHA256Digest()

    package init() {}

    package mutating func update(_ bytes: Span<UInt8>) { digest.update(bytes) }
    package func finalized() -> [UInt8] { digest.finalized() }
}
