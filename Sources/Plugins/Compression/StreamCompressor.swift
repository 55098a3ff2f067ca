import CErrandCodings
import ErrandEssentials

/// One coding of one body, piece by piece.
struct StreamCompressor: ~Copyable {
    private static let step = 64 << 10
    private let encoder: OpaquePointer

    init(_ compression: ContentCompression) throws {
        guard compression.isAvailable else {
            throw CompressionError(.unavailable, "there is no library for \(compression) on this system")
        }
        guard let encoder = errand_encoder_make(compression.coding.bit, compression.level) else {
            throw CompressionError(.compressionFailed, "there is no memory for \(compression)")
        }
        self.encoder = encoder
    }

    deinit { errand_encoder_free(encoder) }

    /// The compressed bytes for the input, all that a reader needs to decode it; with `isLast` also the end.
    mutating func compress(_ input: Data, isLast: Bool) throws -> Data {
        var (result, offset) = (Data(), 0)
        while true {
            var (taken, made) = (0, 0)
            var buffer = Data(count: Self.step)
            let code = input.withUnsafeBytes { input in
                buffer.withUnsafeMutableBytes { output in
                    errand_encoder_run(
                        encoder, input.baseAddress.map { $0.assumingMemoryBound(to: UInt8.self) + offset },
                        input.count - offset, &taken, output.baseAddress?.assumingMemoryBound(to: UInt8.self),
                        output.count, &made, isLast ? 1 : 0)
                }
            }
            if code == Int32(ERRAND_ENCODER_FAILED) {
                throw CompressionError(.compressionFailed, "the body cannot be compressed")
            }
            offset += taken
            result.append(buffer.prefix(made))
            if code == Int32(ERRAND_ENCODER_DONE) { return result }
        }
    }
}
