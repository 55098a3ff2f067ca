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
        return lines.append(start, line.count)
    }

    /// "1.1" or "2", from "HTTP/1.1 200".
    var version: String? {
        let text = lines.bytes.dropFirst(5).prefix(8).prefix { $0 != 0x20 && $0 != 0x0D && $0 != 0x0A }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

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
        fields.reserveCapacity(16)
        var isFirst = skipsFirst
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            let line = trimmed(rest[rest.startIndex..<end])
            let isFolded = rest.first == 0x20 || rest.first == 0x09
            rest = end == rest.endIndex ? rest[end...] : rest[(end + 1)...]
            if isFirst {
                isFirst = false
            } else if isFolded {
                if let last = fields.indices.last, !line.isEmpty { fields[last].value += " " + text(line) }
            } else if let colon = line.firstIndex(of: 0x3A) {
                let name = HTTPHeaderName(text(trimmed(line[..<colon])))
                if name.isValid { fields.append(HTTPHeaders.Field(name, text(trimmed(line[(colon + 1)...])))) }
            }
        }
        return HTTPHeaders(fields)
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var bytes = bytes
        while let byte = bytes.first, byte == 0x20 || byte == 0x09 { bytes = bytes.dropFirst() }
        while let byte = bytes.last, byte == 0x20 || byte == 0x09 || byte == 0x0D { bytes = bytes.dropLast() }
        return bytes
    }

    /// UTF-8 where it is, else Latin-1. NUL and a stray CR become spaces (RFC 9110, section 5.5).
    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let isPlain = bytes.allSatisfy { $0 < 0x80 && $0 != 0 && $0 != 0x0D }
        if isPlain { return String(decoding: bytes, as: UTF8.self) }
        let clean = bytes.map { $0 == 0 || $0 == 0x0D ? 0x20 : $0 }
        if let text = String(validating: clean, as: UTF8.self) { return text }
        var latin = ""
        for byte in clean { latin.unicodeScalars.append(Unicode.Scalar(byte)) }
        return latin
    }
}
#endif
