#if canImport(CryptoKit)
import CryptoKit

extension PlatformSHA256 {
    static func platform() -> (any RunningSHA256)? { CryptoKitSHA256() }
}

struct CryptoKitSHA256: RunningSHA256 {
    private var digest = SHA256()

    // The span owns the memory and outlives the call that reads it.
    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe digest.update(bufferPointer: $0) }
    }
    func finalized() -> [UInt8] { Array(digest.finalize()) }
}
#endif
