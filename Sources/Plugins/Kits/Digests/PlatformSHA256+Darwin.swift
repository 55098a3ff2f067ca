#if canImport(CryptoKit)
import CryptoKit

extension PlatformSHA256 {
    static func platform() -> (any RunningSHA256)? { CryptoKitSHA256() }
}

struct CryptoKitSHA256: RunningSHA256 {
    private var digest = SHA256()

    mutating func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bufferPointer: bytes) }
    func finalized() -> [UInt8] { Array(digest.finalize()) }
}
#endif
