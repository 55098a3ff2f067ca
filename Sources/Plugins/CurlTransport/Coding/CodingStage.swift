#if os(Linux) || os(Android)
import CErrandCodings
import Errand
import ErrandEssentials
import ErrandSupport

/// The decoder of one content coding, and its remaining input.
///
/// Safe: this object owns the decoder, which uses the buffers within their lengths and only during the call.
@safe final class CodingStage {
    private let decoder: OpaquePointer
    private var input = Data()
    private var isBegun = false
    private var isEnded = false
    private static let step = 128 << 10

    init(_ coding: ContentCoding) throws {
        guard let decoder = unsafe errand_decoder_make(coding.bit) else {
            throw ErrandError(.transportFailed, "there isn't enough memory for decoding")
        }
        unsafe self.decoder = decoder
    }

    deinit { unsafe errand_decoder_free(decoder) }

    /// Whether the input may end here: before the first byte, or after the end of a stream.
    var isComplete: Bool { isEnded || !isBegun }

    func feed(_ data: Data) { input = data }

    func next() throws -> Data? {
        guard let buffer = unsafe malloc(Self.step) else {
            throw ErrandError(.transportFailed, "there isn't enough memory for decoding")
        }
        while true {
            var taken = 0
            var made = 0
            let code = unsafe input.withUnsafeBytes { bytes in
                unsafe errand_decoder_run(
                    decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &taken,
                    buffer.assumingMemoryBound(to: UInt8.self), Self.step, &made)
            }
            if code == Int32(ERRAND_DECODER_CORRUPT) {
                unsafe free(buffer)
                throw ErrandError(.invalidResponse, "the compressed body is corrupt")
            }
            if taken > 0 || made > 0 {
                isBegun = true
                isEnded = code == Int32(ERRAND_DECODER_END)
            }
            input = input.dropFirst(taken)
            if made > 0 {
                let bytes = unsafe realloc(buffer, made) ?? buffer
                return unsafe Data(bytesNoCopy: bytes, count: made, deallocator: .free)
            }
            if input.isEmpty || taken == 0 {
                unsafe free(buffer)
                return nil
            }
        }
    }
}
#endif
