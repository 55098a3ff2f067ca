import ErrandEssentials

/// Writes the frames of a client: each is masked by a random key of the system (RFC 6455, section 5.3).
struct FrameWriter: ~Copyable {
    private var random = SystemRandomNumberGenerator()
    /// Random keys that were not used yet.
    private var keys: [UInt32] = []
    private var deflater: MessageDeflater?
    private let minimumBytes: Int

    /// - Parameter compression: what both sides have agreed on; nil for messages as they are.
    init(_ compression: DeflateAgreement? = nil, minimumBytes: Int = 0) {
        deflater = compression.map { MessageDeflater($0.clientWindow, keepsWindow: $0.clientKeepsWindow) }
        self.minimumBytes = minimumBytes
    }

    /// The frame of a whole message, deflated if that was agreed on. Throws `encodingFailed` where zlib has no memory.
    mutating func frame(_ message: WebSocketMessage, deflates: Bool = true) throws(WebSocketError) -> Data {
        let result: Result<Data, WebSocketError> =
            switch message {
            case .text(var text): text.withUTF8 { written(.text, UnsafeRawBufferPointer($0), deflates) }
            case .data(let data): data.withUnsafeBytes { written(.data, $0, deflates) }
            }
        return try result.get()
    }

    private mutating func written(
        _ opcode: Opcode, _ bytes: UnsafeRawBufferPointer, _ deflates: Bool
    ) -> Result<Data, WebSocketError> {
        guard deflates, deflater != nil, bytes.count >= minimumBytes else {
            return .success(masked(opcode, bytes, isDeflated: false))
        }
        guard let deflated = deflater?.deflate(bytes) else {
            return .failure(WebSocketError(.encodingFailed, "the message cannot be deflated"))
        }
        return .success(deflated.withUnsafeBytes { masked(opcode, $0, isDeflated: true) })
    }

    /// A control frame; longer contents are cut to 125 bytes.
    mutating func control(_ opcode: Opcode, _ content: Data = Data()) -> Data {
        content.prefix(Opcode.maximumControlBytes).withUnsafeBytes { masked(opcode, $0, isDeflated: false) }
    }

    /// A close frame; a reason is cut where a character ends.
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

    private mutating func masked(_ opcode: Opcode, _ bytes: UnsafeRawBufferPointer, isDeflated: Bool) -> Data {
        let count = bytes.count
        let lengthBytes = count <= Opcode.maximumControlBytes ? 0 : count <= 0xFFFF ? 2 : 8
        let start = 2 + lengthBytes + 4
        let key = nextKey()
        var frame = Data(count: start + count)
        frame.withUnsafeMutableBytes { frame in
            frame[0] = 0x80 | (isDeflated ? 0x40 : 0) | opcode.rawValue
            frame[1] = 0x80 | (lengthBytes == 0 ? UInt8(count) : lengthBytes == 2 ? 126 : 127)
            var length = UInt64(count)
            for index in (0..<lengthBytes).reversed() {
                frame[2 + index] = UInt8(length & 0xFF)
                length >>= 8
            }
            frame.storeBytes(of: key, toByteOffset: start - 4, as: UInt32.self)
            Self.mask(bytes, with: key, into: UnsafeMutableRawBufferPointer(rebasing: frame[start...]))
        }
        return frame
    }

    /// Four random bytes.
    private mutating func nextKey() -> UInt32 {
        if let key = keys.popLast() { return key }
        for _ in 0..<Self.numbersAtOnce {
            let number: UInt64 = random.next()
            keys += [UInt32(truncatingIfNeeded: number), UInt32(truncatingIfNeeded: number >> 32)]
        }
        return keys.removeLast()
    }

    private static let numbersAtOnce = 8

    private static func mask(
        _ bytes: UnsafeRawBufferPointer, with key: UInt32, into target: UnsafeMutableRawBufferPointer
    ) {
        let wide = UInt64(key) | UInt64(key) << 32
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ wide
            target.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        withUnsafeBytes(of: key) { key in
            while index < bytes.count {
                target[index] = bytes[index] ^ key[index & 3]
                index += 1
            }
        }
    }
}
