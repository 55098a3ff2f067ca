#if os(Linux) || os(Android)
import CErrandCodings
import Errand
import ErrandEssentials
import ErrandSupport

/// Decodes the codings of a body in steps of at most 128 KiB of output, however much the input would expand.
struct ContentDecoder: ~Copyable {
    /// One coding and its remaining input.
    private final class Stage {
        private let decoder: OpaquePointer
        private var input = Data()
        private var isBegun = false
        private var isEnded = false

        init(_ coding: ContentCoding) throws {
            guard let decoder = errand_decoder_make(coding.bit) else {
                throw ErrandError(.transportFailed, "there is no memory for decoding")
            }
            self.decoder = decoder
        }

        deinit { errand_decoder_free(decoder) }

        /// Whether it is between two streams, or has received no byte at all.
        var isComplete: Bool { isEnded || !isBegun }

        func feed(_ data: Data) { input = data }

        /// The next piece, nil if more input is needed.
        func next() throws -> Data? {
            guard let buffer = malloc(ContentDecoder.step) else {
                throw ErrandError(.transportFailed, "there is no memory for decoding")
            }
            while true {
                var taken = 0
                var made = 0
                let code = input.withUnsafeBytes { bytes in
                    errand_decoder_run(
                        decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &taken,
                        buffer.assumingMemoryBound(to: UInt8.self), ContentDecoder.step, &made)
                }
                if code == Int32(ERRAND_DECODER_CORRUPT) {
                    free(buffer)
                    throw ErrandError(.invalidResponse, "the content coding of the body is corrupt")
                }
                if taken > 0 || made > 0 {
                    isBegun = true
                    isEnded = code == Int32(ERRAND_DECODER_END)
                }
                input = input.dropFirst(taken)
                if made > 0 {
                    let bytes = realloc(buffer, made) ?? buffer
                    return Data(bytesNoCopy: bytes, count: made, deallocator: .free)
                }
                if input.isEmpty || taken == 0 {
                    free(buffer)
                    return nil
                }
            }
        }
    }

    private static let step = 128 << 10
    private let stages: [Stage]

    /// Throws `transportFailed` where there is no memory for it.
    init(_ codings: [ContentCoding]) throws {
        stages = try codings.reversed().map(Stage.init)
    }

    /// Adds bytes from the wire; `next` has to take the output of all earlier ones first.
    func feed(_ data: Data) { stages.first?.feed(data) }

    /// The next decoded piece; nil if more input is needed. Throws `invalidResponse` for malformed input.
    func next() throws -> Data? { try next(of: stages.count - 1) }

    private func next(of index: Int) throws -> Data? {
        while true {
            if let data = try stages[index].next() { return data }
            guard index > 0, let input = try next(of: index - 1) else { return nil }
            stages[index].feed(input)
        }
    }

    /// Ends the input. Throws `truncated` if a coding is not complete.
    func finish() throws {
        guard stages.allSatisfy(\.isComplete) else {
            throw ErrandError(.truncated, "the body ended within its content coding")
        }
    }

    /// As much of a body as can be decoded, at most `limit` bytes.
    static func beginning(of data: Data, _ codings: [ContentCoding], upTo limit: Int) -> Data {
        var result = Data()
        guard let decoder = try? ContentDecoder(codings) else { return result }
        decoder.feed(data)
        while result.count < limit, let piece = try? decoder.next() {
            result.append(piece.prefix(limit - result.count))
        }
        return result
    }

    /// Decodes a whole body. Throws `bodyTooLarge` as soon as it would be longer than `limit`.
    static func decode(_ data: Data, _ codings: [ContentCoding], upTo limit: Int) throws -> Data {
        let decoder = try ContentDecoder(codings)
        decoder.feed(data)
        var result = Data()
        while let piece = try decoder.next() {
            guard result.count + piece.count <= limit else {
                throw ErrandError(.bodyTooLarge, "the body is longer than the limit of \(limit) bytes")
            }
            if result.isEmpty { result = piece } else { result.append(piece) }
        }
        try decoder.finish()
        return result
    }
}
#endif
