import CErrandCodings
import ErrandEssentials

/// Deflates messages (RFC 7692, section 7.2.1). Its window takes memory from the first message on.
struct MessageDeflater: ~Copyable {
    private var deflater: OpaquePointer?
    private let window: Int
    private let keepsWindow: Bool

    init(_ window: Int, keepsWindow: Bool) { (self.window, self.keepsWindow) = (window, keepsWindow) }

    deinit { if let deflater { errand_deflater_free(deflater) } }

    /// A message without its last four bytes, which are always the same; nil without memory.
    mutating func deflate(_ bytes: UnsafeRawBufferPointer) -> Data? {
        if deflater == nil { deflater = errand_deflater_make(Int32(window)) }
        guard let deflater else { return nil }
        var result = Data()
        var rest = bytes
        while true {
            var (taken, made) = (0, 0)
            let code = withUnsafeTemporaryAllocation(byteCount: Self.step, alignment: 16) { output in
                let code = errand_deflater_run(
                    deflater, rest.bindMemory(to: UInt8.self).baseAddress, rest.count, &taken,
                    output.bindMemory(to: UInt8.self).baseAddress, output.count, &made)
                result.append(contentsOf: UnsafeRawBufferPointer(rebasing: output[..<made]))
                return code
            }
            if code == Int32(ERRAND_MESSAGE_CORRUPT) { return nil }
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
            if code == Int32(ERRAND_MESSAGE_DONE) { break }
        }
        if !keepsWindow, errand_deflater_reset(deflater) != 0 { return nil }
        // An empty message is one byte.
        if bytes.isEmpty { return Data([0]) }
        return result.suffix(Self.tail.count) == Self.tail ? result.dropLast(Self.tail.count) : result
    }

    /// Whether the system has zlib.
    static var isAvailable: Bool { errand_has_deflate() != 0 }

    private static let step = 16 << 10
    static let tail = Data([0x00, 0x00, 0xFF, 0xFF])
}

/// Inflates messages (RFC 7692, section 7.2.2), piece by piece. Its window takes memory from the first message on.
struct MessageInflater: ~Copyable {
    private var inflater: OpaquePointer?
    private let window: Int
    private let keepsWindow: Bool

    init(_ window: Int, keepsWindow: Bool) { (self.window, self.keepsWindow) = (window, keepsWindow) }

    deinit { if let inflater { errand_inflater_free(inflater) } }

    /// Inflates a piece of a message; `body` receives what comes out, and throws where that is too much.
    mutating func inflate(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        if inflater == nil { inflater = errand_inflater_make(Int32(window)) }
        guard let inflater else { throw .violation("there is no memory to inflate a message", .internalError) }
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.step, alignment: 16)
        defer { output.deallocate() }
        var rest = bytes
        while true {
            var (taken, made) = (0, 0)
            let code = errand_inflater_run(
                inflater, rest.bindMemory(to: UInt8.self).baseAddress, rest.count, &taken,
                output.bindMemory(to: UInt8.self).baseAddress, output.count, &made)
            if code == Int32(ERRAND_MESSAGE_CORRUPT) || code != Int32(ERRAND_MESSAGE_DONE) && taken + made == 0 {
                throw .violation("a message is not deflated as it should be", .invalidPayload)
            }
            if made > 0 { try body(UnsafeRawBufferPointer(rebasing: output[..<made])) }
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
            if code == Int32(ERRAND_MESSAGE_DONE) { return }
        }
    }

    /// The message has ended.
    mutating func finish(
        _ body: (UnsafeRawBufferPointer) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        // The end of a final block that nothing follows is that of the message: the tail would begin another block.
        let hasEnded = inflater.map { errand_inflater_has_ended($0) != 0 } ?? false
        let result: Result<Void, WebSocketError> =
            hasEnded
            ? .success(())
            : MessageDeflater.tail.withUnsafeBytes { tail in
                Result { () throws(WebSocketError) in try inflate(tail, body) }
            }
        try result.get()
        if !keepsWindow, let inflater, errand_inflater_reset(inflater) != 0 {
            throw .violation("a message is not deflated as it should be", .invalidPayload)
        }
    }

    private static let step = 16 << 10
}
