import CErrandCodings
import ErrandEssentials
import ErrandSupport

// Safe: a C library object is created here, freed once at the end, and only passed to C functions. These read `count`
// bytes of the input and write `count` bytes of the buffer. Both outlive the call.

/// Compresses messages (RFC 7692, section 7.2.1). Allocates its window for the first message.
@safe
struct MessageDeflater: ~Copyable {
    private var deflater: OpaquePointer?
    private let window: Int
    private let keepsWindow: Bool

    init(_ window: Int, keepsWindow: Bool) { (self.window, self.keepsWindow) = (window, keepsWindow) }

    deinit { if let deflater = unsafe deflater { unsafe errand_deflater_free(deflater) } }

    /// Returns the compressed message without its last four bytes, which are always the same. Returns nil if there
    /// isn't enough memory.
    mutating func deflate(_ bytes: Span<UInt8>) -> Data? {
        if unsafe deflater == nil { unsafe deflater = errand_deflater_make(Int32(window)) }
        guard let deflater = unsafe deflater else { return nil }
        var (result, offset) = (Data(), 0)
        var buffer = [UInt8](repeating: 0, count: min(Self.step, bytes.count + 64))
        while true {
            var (taken, made) = (0, 0)
            let code = unsafe bytes.extracting(offset...).withUnsafeBufferPointer { rest in
                unsafe errand_deflater_run(
                    deflater, rest.baseAddress, rest.count, &taken, &buffer, buffer.count, &made)
            }
            result.append(contentsOf: buffer[..<made])
            if code == Int32(ERRAND_MESSAGE_CORRUPT) { return nil }
            offset += taken
            if code == Int32(ERRAND_MESSAGE_DONE) { break }
        }
        if !keepsWindow, unsafe errand_deflater_reset(deflater) != 0 { return nil }
        // An empty message is compressed to a single zero byte.
        if bytes.isEmpty { return Data([0]) }
        return result.suffix(Self.tail.count) == Self.tail ? result.dropLast(Self.tail.count) : result
    }

    static var isAvailable: Bool { errand_has_deflate() != 0 }

    private static let step = 16 << 10
    static let tail = Data([0x00, 0x00, 0xFF, 0xFF])
}

/// Decompresses messages (RFC 7692, section 7.2.2). Allocates its window for the first message.
@safe
struct MessageInflater: ~Copyable {
    private var inflater: OpaquePointer?
    private let window: Int
    private let keepsWindow: Bool

    init(_ window: Int, keepsWindow: Bool) { (self.window, self.keepsWindow) = (window, keepsWindow) }

    deinit { if let inflater = unsafe inflater { unsafe errand_inflater_free(inflater) } }

    mutating func inflate(
        _ bytes: Span<UInt8>, _ body: (Span<UInt8>) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        if unsafe inflater == nil { unsafe inflater = errand_inflater_make(Int32(window)) }
        guard let inflater = unsafe inflater else {
            throw .violation("out of memory while inflating a message", .internalError)
        }
        var (buffer, offset) = ([UInt8](repeating: 0, count: min(Self.step, 8 * bytes.count + 64)), 0)
        while true {
            var (taken, made) = (0, 0)
            let code = unsafe bytes.extracting(offset...).withUnsafeBufferPointer { rest in
                unsafe errand_inflater_run(
                    inflater, rest.baseAddress, rest.count, &taken, &buffer, buffer.count, &made)
            }
            if code == Int32(ERRAND_MESSAGE_CORRUPT) || code != Int32(ERRAND_MESSAGE_DONE) && taken + made == 0 {
                throw .violation("a message has invalid deflate data", .invalidPayload)
            }
            if made > 0 { try buffer.withSpan { bytes throws(WebSocketError) in try body(bytes.extracting(..<made)) } }
            offset += taken
            if code == Int32(ERRAND_MESSAGE_DONE) { return }
        }
    }

    mutating func finish(_ body: (Span<UInt8>) throws(WebSocketError) -> Void) throws(WebSocketError) {
        // If the data has ended with a final block, the omitted four bytes would begin another block, so they aren't
        // added.
        let hasEnded = unsafe inflater.map { unsafe errand_inflater_has_ended($0) != 0 } ?? false
        if !hasEnded { try inflate(MessageDeflater.tail.span, body) }
        if !keepsWindow, let inflater = unsafe inflater, unsafe errand_inflater_reset(inflater) != 0 {
            throw .violation("a message has invalid deflate data", .invalidPayload)
        }
    }

    private static let step = 16 << 10
}
