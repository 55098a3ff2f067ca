import ErrandEssentials
import ErrandSupport

/// Creates a client's frames. Masks each frame with a random key (RFC 6455, section 5.3).
struct FrameWriter: ~Copyable {
    private var random = SystemRandomNumberGenerator()
    private var keys: [UInt32] = []
    private var deflater: MessageDeflater?
    private let minimumBytes: Int

    init(_ compression: DeflateAgreement? = nil, minimumBytes: Int = 0) {
        deflater = compression.map { MessageDeflater($0.clientWindow, keepsWindow: $0.clientKeepsWindow) }
        self.minimumBytes = minimumBytes
    }

    mutating func frame(_ message: WebSocketMessage, deflates: Bool = true) throws(WebSocketError) -> Data {
        let result =
            switch message {
            case .text(let text): text.withSpan { frame(.text, $0, deflates: deflates) }
            case .data(let data): frame(.data, data.span, deflates: deflates)
            }
        guard let result else { throw WebSocketError(.encodingFailed, "the message can't be compressed") }
        return result
    }

    /// Returns the frame, or nil if zlib can't allocate memory.
    private mutating func frame(_ opcode: Opcode, _ bytes: Span<UInt8>, deflates: Bool) -> Data? {
        guard deflates, deflater != nil, bytes.count >= minimumBytes else {
            return masked(opcode, bytes, isDeflated: false)
        }
        guard let deflated = deflater?.deflate(bytes) else { return nil }
        return masked(opcode, deflated.span, isDeflated: true)
    }

    mutating func control(_ opcode: Opcode, _ content: Data = Data()) -> Data {
        masked(opcode, content.prefix(Opcode.maximumControlBytes).span, isDeflated: false)
    }

    /// Returns a close frame. Omits the code if it must not be sent, and truncates a long reason between Unicode
    /// scalars.
    mutating func close(_ code: CloseCode, _ reason: String = "") -> Data {
        guard code.isSendable else { return control(.close) }
        var content = Data([UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)])
        var size = 2
        for character in reason.unicodeScalars {
            size += UTF8.width(character)
            if size > Opcode.maximumControlBytes { break }
            content.append(contentsOf: String(character).utf8)
        }
        return control(.close, content)
    }

    private mutating func masked(_ opcode: Opcode, _ bytes: Span<UInt8>, isDeflated: Bool) -> Data {
        let count = bytes.count
        let lengthBytes = count <= Opcode.maximumControlBytes ? 0 : count <= 0xFFFF ? 2 : 8
        let start = 2 + lengthBytes + 4
        let key = nextKey()
        var frame = Data(count: start + count)
        var head = frame.mutableSpan
        head[0] = 0x80 | (isDeflated ? 0x40 : 0) | opcode.rawValue
        head[1] = 0x80 | (lengthBytes == 0 ? UInt8(count) : lengthBytes == 2 ? 126 : 127)
        for index in 0..<lengthBytes {
            head[1 + lengthBytes - index] = UInt8(truncatingIfNeeded: count >> (8 * index))
        }
        for index in 0..<4 { head[start - 4 + index] = UInt8(truncatingIfNeeded: key >> (8 * index)) }
        Self.mask(bytes, with: key, into: &frame, at: start)
        return frame
    }

    private mutating func nextKey() -> UInt32 {
        if let key = keys.popLast() { return key }
        for _ in 0..<Self.numbersAtOnce {
            let number: UInt64 = random.next()
            keys += [UInt32(truncatingIfNeeded: number), UInt32(truncatingIfNeeded: number >> 32)]
        }
        return keys.removeLast()
    }

    private static let numbersAtOnce = 8

    /// Masks eight bytes at a time, because masking single bytes takes eight times as long.
    private static func mask(_ bytes: Span<UInt8>, with key: UInt32, into frame: inout Data, at start: Int) {
        let wide = UInt64(key) | UInt64(key) << 32
        var target = frame.mutableBytes
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.littleEndian(at: index, as: UInt64.self) ^ wide
            target.storeBytes(of: word.littleEndian, toByteOffset: start + index, as: UInt64.self)
            index += 8
        }
        while index < bytes.count {
            let byte = bytes[index] ^ UInt8(truncatingIfNeeded: key >> (8 * UInt32(index & 3)))
            target.storeBytes(of: byte, toByteOffset: start + index, as: UInt8.self)
            index += 1
        }
    }
}

/// The kind of a frame (RFC 6455, section 5.2).
enum Opcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case data = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    var isControl: Bool { rawValue >= 0x8 }

    /// The maximum size of a control frame's content (RFC 6455, section 5.5).
    static let maximumControlBytes = 125
}
