/// Reads a field value from left to right.
struct FieldScanner {
    private let bytes: [UInt8]
    private(set) var position = 0
    /// Whether the last quoted string had a closing quote.
    private(set) var isClosed = true

    init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func advance() { position += 1 }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func skipBlanks() {
        while let next, ASCII.isBlank(next) { position += 1 }
    }

    mutating func run(_ passes: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while let next, passes(next) { position += 1 }
        return bytes[start..<position]
    }

    mutating func text(_ passes: (UInt8) -> Bool) -> String { String(decoding: run(passes), as: UTF8.self) }

    mutating func token() -> String? {
        let token = run(ASCII.isToken)
        return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }

    /// Reads a quoted string. Its closing quote may be missing.
    mutating func quotedString() -> String? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        var content: [UInt8] = []
        isClosed = false
        while let byte = next {
            advance()
            if byte == UInt8(ascii: "\"") {
                isClosed = true
                break
            }
            if byte == UInt8(ascii: "\\"), let escaped = next {
                content.append(escaped)
                advance()
            } else {
                content.append(byte)
            }
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Reads the content of a quoted parameter value in a form part. In the HTML standard ("Multipart form data"), a
    /// backslash isn't an escape. Other programs write `\"`, so a quote after a backslash is content unless the
    /// parameter ends there.
    mutating func formString() -> String? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        var content: [UInt8] = []
        isClosed = false
        while let byte = next {
            advance()
            guard byte == UInt8(ascii: "\"") else {
                content.append(byte)
                continue
            }
            let following = bytes[position...].first { !ASCII.isBlank($0) }
            if content.last != UInt8(ascii: "\\") || following == nil || following == UInt8(ascii: ";") {
                isClosed = true
                break
            }
            content[content.count - 1] = byte
        }
        return String(decoding: content, as: UTF8.self)
    }
}
