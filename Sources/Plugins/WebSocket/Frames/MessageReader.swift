import ErrandEssentials
import ErrandSupport

/// Parses a server's bytes into messages (RFC 6455, section 5). If the head of a frame announces a message that is too
/// large, the reader rejects the message before its content arrives, so memory is bounded.
struct MessageReader: ~Copyable {
    enum Event: Equatable {
        case message(WebSocketMessage)
        case ping(Data)
        case pong(Data)
        case close(CloseCode?, reason: String)
    }

    private struct Frame {
        var opcode: Opcode
        var isFinal: Bool
        var missing: UInt64
    }

    private struct Message {
        let isText: Bool
        let isDeflated: Bool
        var content = Data()
        var check = UTF8Check()
    }

    private var input = Data()
    private var position = 0
    private var head: [UInt8] = []
    private var frame: Frame?
    private var message: Message?
    private var control = Data()
    private var inflater: MessageInflater?
    private let limit: Int

    /// - Parameter limit: The maximum size of a message in bytes, after decompression.
    init(limit: Int, _ compression: DeflateAgreement? = nil) {
        self.limit = limit
        inflater = compression.map { MessageInflater($0.serverWindow, keepsWindow: $0.serverKeepsWindow) }
    }

    /// Adds bytes to parse. Call it only after `next` has returned nil.
    mutating func push(_ bytes: Data) { (input, position) = (bytes, bytes.startIndex) }

    mutating func next() throws(WebSocketError) -> Event? {
        while true {
            if frame == nil {
                guard try readHead() else { return nil }
            }
            guard var reading = frame else { return nil }
            if reading.missing > 0 {
                if position == input.endIndex { return drained() }
                let size = Int(min(reading.missing, UInt64(input.endIndex - position)))
                let piece = input[position..<(position + size)]
                position += size
                reading.missing -= UInt64(size)
                frame = reading
                try add(piece, to: reading)
            }
            if reading.missing > 0 { continue }
            frame = nil
            if let event = try finish(reading) { return event }
        }
    }

    private mutating func drained() -> Event? {
        (input, position) = (Data(), 0)
        return nil
    }

    // MARK: Heads

    private mutating func readHead() throws(WebSocketError) -> Bool {
        while head.count < headCount {
            if position == input.endIndex {
                _ = drained()
                return false
            }
            head.append(input[position])
            position += 1
            if head.count <= 2 { try checkHead() }
        }
        let length = head[1] & 0x7F
        var missing = UInt64(length)
        if length >= 126 {
            missing = head[2...].reduce(0) { $0 << 8 | UInt64($1) }
            guard missing > (length == 126 ? 125 : 0xFFFF), missing < 1 << 63 else {
                throw .violation("a frame's length isn't written in its shortest form")
            }
        }
        guard let opcode = Opcode(rawValue: head[0] & 0x0F) else {
            throw .violation("a frame has the unknown opcode \(head[0] & 0x0F)")
        }
        let isFinal = head[0] & 0x80 != 0
        let isDeflated = head[0] & 0x40 != 0
        head.removeAll(keepingCapacity: true)
        if !opcode.isControl { try begin(opcode, missing, isDeflated: isDeflated) }
        frame = Frame(opcode: opcode, isFinal: isFinal, missing: missing)
        return true
    }

    private var headCount: Int {
        guard head.count >= 2 else { return 2 }
        return switch head[1] & 0x7F {
        case 126: 4
        case 127: 10
        default: 2
        }
    }

    private func checkHead() throws(WebSocketError) {
        guard let opcode = Opcode(rawValue: head[0] & 0x0F) else {
            throw .violation("a frame has the unknown opcode \(head[0] & 0x0F)")
        }
        let mayBeDeflated = inflater != nil && (opcode == .text || opcode == .data)
        guard head[0] & 0x30 == 0, mayBeDeflated || head[0] & 0x40 == 0 else {
            throw .violation("a frame has an unexpected reserved bit")
        }
        if opcode.isControl, head[0] & 0x80 == 0 { throw .violation("a control frame is fragmented") }
        if opcode == .continuation, message == nil {
            throw .violation("a continuation frame arrived without a message to continue")
        }
        if opcode == .text || opcode == .data, message != nil {
            throw .violation("a message began before the previous one ended")
        }
        guard head.count == 2 else { return }
        if head[1] & 0x80 != 0 {
            throw .violation("a frame from the server is masked, but only a client's frames may be")
        }
        if opcode.isControl, head[1] & 0x7F > 125 { throw .violation("a control frame is longer than 125 bytes") }
    }

    private mutating func begin(_ opcode: Opcode, _ length: UInt64, isDeflated: Bool) throws(WebSocketError) {
        if opcode != .continuation { message = Message(isText: opcode == .text, isDeflated: isDeflated) }
        // Compressed data can be longer than its content, so this check applies only to uncompressed messages. The
        // content is counted during decompression.
        guard let message, message.isDeflated || length <= UInt64(limit - message.content.count) else { throw tooLarge }
    }

    private var tooLarge: WebSocketError {
        WebSocketError(
            .tooLarge, "a message is longer than the limit of \(limit) bytes", closeCode: .messageTooBig)
    }

    // MARK: Contents

    private mutating func add(_ piece: Data, to frame: Frame) throws(WebSocketError) {
        if frame.opcode.isControl { return control.append(piece) }
        guard message?.isDeflated == true else { return try keep(piece.span) }
        try inflate(piece.span, isEnd: false)
    }

    private mutating func inflate(_ bytes: Span<UInt8>, isEnd: Bool) throws(WebSocketError) {
        guard var message else { return }
        self.message = nil
        let limit = limit
        let tooLarge = tooLarge
        func keep(_ bytes: Span<UInt8>) throws(WebSocketError) {
            guard message.content.count + bytes.count <= limit else { throw tooLarge }
            try Self.keep(bytes, in: &message)
        }
        if isEnd { try inflater?.finish(keep) } else { try inflater?.inflate(bytes, keep) }
        self.message = message
    }

    private mutating func keep(_ bytes: Span<UInt8>) throws(WebSocketError) {
        guard var message else { return }
        self.message = nil
        try Self.keep(bytes, in: &message)
        self.message = message
    }

    private static func keep(_ bytes: Span<UInt8>, in message: inout Message) throws(WebSocketError) {
        if message.isText, !message.check.accept(bytes) { throw invalidText }
        message.content.append(contentsOf: bytes)
    }

    private static var invalidText: WebSocketError {
        WebSocketError(.invalidText, "a text message is not UTF-8", closeCode: .invalidPayload)
    }

    // MARK: Ends

    private mutating func finish(_ frame: Frame) throws(WebSocketError) -> Event? {
        if frame.opcode.isControl {
            defer { control = Data() }
            switch frame.opcode {
            case .ping: return .ping(control)
            case .pong: return .pong(control)
            default: return try Self.close(control)
            }
        }
        guard frame.isFinal else { return nil }
        if message?.isDeflated == true { try inflate(Span(), isEnd: true) }
        guard let done = message.take() else { return nil }
        guard done.isText else { return .message(.data(done.content)) }
        guard done.check.isComplete else { throw Self.invalidText }
        return .message(.text(String(decoding: done.content, as: UTF8.self)))
    }

    private static func close(_ content: Data) throws(WebSocketError) -> Event {
        if content.isEmpty { return .close(nil, reason: "") }
        let bytes = [UInt8](content)
        guard bytes.count >= 2 else { throw .violation("a close frame has one byte, but its code needs two") }
        let code = CloseCode(rawValue: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
        guard code.isSendable else { throw .violation("a close frame has a reserved code") }
        guard let reason = String(validating: bytes[2...], as: UTF8.self) else {
            throw WebSocketError(.invalidText, "the reason of a close frame is not UTF-8", closeCode: .invalidPayload)
        }
        return .close(code, reason: reason)
    }
}

/// Checks UTF-8 that arrives in pieces (RFC 3629).
struct UTF8Check {
    /// The number of bytes that the current character still needs, and the bounds of its next byte.
    private var missing = 0
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    var isComplete: Bool { missing == 0 }

    mutating func accept(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0 {
                index = Self.asciiEnd(bytes, from: index)
                if index == bytes.count { return true }
                if bytes[index] >= 0x80, !begin(bytes[index]) { return false }
            } else {
                guard bytes[index] >= lower, bytes[index] <= upper else { return false }
                (lower, upper) = (0x80, 0xBF)
                missing -= 1
            }
            index += 1
        }
        return true
    }

    /// Finds the ASCII at the start of a text, because most text is ASCII. Returns an index at most seven bytes before
    /// the first non-ASCII byte.
    private static func asciiEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        func word(_ index: Int) -> UInt64 { bytes.littleEndian(at: index) }
        let high: UInt64 = 0x8080_8080_8080_8080
        var index = start
        while index + 32 <= bytes.count,
            (word(index) | word(index + 8) | word(index + 16) | word(index + 24)) & high == 0
        { index += 32 }
        while index + 8 <= bytes.count, word(index) & high == 0 { index += 8 }
        return index
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        (lower, upper) = (0x80, 0xBF)
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, lower) = (2, 0xA0)
        case 0xED: (missing, upper) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, lower) = (3, 0x90)
        case 0xF4: (missing, upper) = (3, 0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }
}
