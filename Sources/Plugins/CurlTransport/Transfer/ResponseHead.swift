#if os(Linux)
import Errand

/// Status line and header fields as they came: collected line by line, read once.
struct ResponseHead: ~Copyable {
    private var lines = ByteBuffer()
    private(set) var isComplete = false
    /// 0 until the head is complete, and if its status line has none.
    private(set) var status = 0

    var isEmpty: Bool { lines.count == 0 }

    mutating func restart() {
        lines.removeAll()
        isComplete = false
        status = 0
    }

    /// Takes one line; false if there is no memory for it.
    mutating func add(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let start = line.baseAddress else { return true }
        let isBlank = line.count <= 2 && line.allSatisfy { $0 == 0x0D || $0 == 0x0A }
        if isBlank {
            isComplete = !isEmpty
            if isComplete { status = Self.status(in: lines.bytes) }
            return true
        }
        // Most heads fit, so that their memory does not grow line by line.
        if isEmpty { lines.reserve(768) }
        return lines.append(start, line.count)
    }

    /// "1.1" or "2", from "HTTP/1.1 200".
    var version: String? {
        let text = lines.bytes.dropFirst(5).prefix(8).prefix { $0 != 0x20 && $0 != 0x0D && $0 != 0x0A }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// Whether its status line begins with "HTTP/1".
    var isHTTP1: Bool { lines.count > 5 && lines.bytes[5] == 0x31 }

    /// The header fields, in order, duplicates kept, folded lines joined by a space (RFC 9112, section 5.2). A line that
    /// is no header field is left out.
    var headers: HTTPHeaders { Self.fields(lines.bytes, skipsFirst: true) }

    /// The fields of a trailer section, which has no status line.
    var trailers: HTTPHeaders { Self.fields(lines.bytes, skipsFirst: false) }

    private static func status(in bytes: UnsafeRawBufferPointer) -> Int {
        guard let space = bytes.firstIndex(of: 0x20), space + 3 < bytes.count else { return 0 }
        var number = 0
        for byte in bytes[(space + 1)...(space + 3)] {
            guard byte >= 0x30, byte <= 0x39 else { return 0 }
            number = number * 10 + Int(byte - 0x30)
        }
        let isOver = space + 4 == bytes.count || bytes[space + 4] == 0x20 || bytes[space + 4] < 0x10
        return isOver && number >= 100 ? number : 0
    }

    private static func fields(_ bytes: UnsafeRawBufferPointer, skipsFirst: Bool) -> HTTPHeaders {
        var fields: [HTTPHeaders.Field] = []
        fields.reserveCapacity(12)
        var start = 0
        var isFirst = skipsFirst
        while start < bytes.count {
            var end = start
            var colon = -1
            while end < bytes.count, bytes[end] != 0x0A {
                if colon < 0 && bytes[end] == 0x3A { colon = end }
                end += 1
            }
            let line = Part(bytes, start, end)
            if isFirst {
                isFirst = false
            } else if bytes[start] == 0x20 || bytes[start] == 0x09 {
                if let last = fields.indices.last, !line.isEmpty { fields[last].value += " " + line.text }
            } else if colon > start {
                let name = Part(bytes, start, colon)
                if name.isToken {
                    let value = Part(bytes, colon + 1, max(colon + 1, line.end))
                    var field = HTTPHeaders.Field(HTTPHeaderName(name.text), value.text)
                    field.isLatin1 = value.isLatin1
                    fields.append(field)
                }
            }
            start = end + 1
        }
        return HTTPHeaders(fields)
    }

    /// A part of the bytes without the white space around it.
    private struct Part {
        let bytes: UnsafeRawBufferPointer
        private(set) var start: Int
        private(set) var end: Int

        init(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) {
            (self.bytes, self.start, self.end) = (bytes, start, end)
            while self.start < self.end, Self.isBlank(bytes[self.start]) { self.start += 1 }
            while self.end > self.start, Self.isBlank(bytes[self.end - 1]) { self.end -= 1 }
        }

        var isEmpty: Bool { start == end }

        /// Whether it is one or more `tchar` of RFC 9110, section 5.6.2.
        var isToken: Bool {
            for index in start..<end where !Self.isTokenCharacter(bytes[index]) { return false }
            return !isEmpty
        }

        /// UTF-8 where it is, else Latin-1. NUL and a stray CR become spaces (RFC 9110, section 5.5).
        var text: String {
            let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            var isPlain = true
            for byte in part where byte >= 0x80 || byte == 0 || byte == 0x0D { isPlain = false }
            if isPlain { return String(decoding: part, as: UTF8.self) }
            let clean = part.map { $0 == 0 || $0 == 0x0D ? 0x20 : $0 }
            if let text = String(validating: clean, as: UTF8.self) { return text }
            var latin = ""
            for byte in clean { latin.unicodeScalars.append(Unicode.Scalar(byte)) }
            return latin
        }

        /// Whether the bytes are not UTF-8.
        var isLatin1: Bool {
            let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            return part.contains { $0 >= 0x80 } && String(validating: part, as: UTF8.self) == nil
        }

        private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

        private static func isTokenCharacter(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, 0x2D, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2E, 0x5E...0x60, 0x7C,
                0x7E:
                true
            default: false
            }
        }
    }
}
#endif
