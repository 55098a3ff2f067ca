import CErrandCodings
import ErrandEssentials

// Safe: the encoder is created here, freed once in `deinit`, and only passed to the C functions. They read `count`
// bytes of the input and write at most `count` bytes to the buffer. Both outlive the call.
@safe
struct StreamCompressor: ~Copyable {
    private static let step = 64 << 10
    private let encoder: OpaquePointer

    init(_ compression: ContentCompression) throws {
        guard compression.isAvailable else {
            throw CompressionError(.unavailable, "this system has no library for \(compression)")
        }
        guard let encoder = unsafe errand_encoder_make(compression.coding.bit, compression.level) else {
            throw CompressionError(.compressionFailed, "not enough memory to compress with \(compression)")
        }
        unsafe self.encoder = encoder
    }

    deinit { unsafe errand_encoder_free(encoder) }

    /// Compresses input and flushes the encoder, so a reader can decode the whole input. With `isLast`, also ends the
    /// stream.
    mutating func compress(_ input: Data, isLast: Bool) throws -> Data {
        var (result, buffer, offset) = (Data(), [UInt8](repeating: 0, count: Self.step), 0)
        while true {
            var (taken, made) = (0, 0)
            let code = unsafe input.span.extracting(offset...).withUnsafeBufferPointer { input in
                unsafe errand_encoder_run(
                    encoder, input.baseAddress, input.count, &taken, &buffer, buffer.count, &made, isLast ? 1 : 0)
            }
            if code == Int32(ERRAND_ENCODER_FAILED) {
                throw CompressionError(
                    .compressionFailed, "the body can't be compressed: the compression library reported an error")
            }
            offset += taken
            result.append(contentsOf: buffer[..<made])
            if code == Int32(ERRAND_ENCODER_DONE) { return result }
        }
    }
}
