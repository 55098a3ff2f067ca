#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport

/// A response's status line and header fields, collected line by line and parsed once.
struct ResponseHead: ~Copyable {
    private var block = HeadBlock()
    /// The status, or 0 if the head isn't complete or its status line is invalid.
    private(set) var status = 0

    var isComplete: Bool { block.isComplete }

    var isEmpty: Bool { block.count == 0 }

    /// Whether a line was rejected because libcurl would have added it to another response's field.
    var isRefused: Bool { block.isRefused }

    /// The number of received bytes, including informational heads and trailers.
    var received: Int { block.received }

    mutating func open(for handle: EasyHandle, _ clock: RoundClock, limit: Int, isWatched: Bool) -> Bool {
        block.collect(for: handle, clock, limit: limit, isWatched: isWatched)
    }

    mutating func count(_ line: Span<UInt8>) -> Bool {
        if line.count > block.rest { return false }
        block.received += line.count
        return true
    }

    mutating func restart() {
        block.removeAll()
        block.setOpen(false)
        block.isComplete = false
        status = 0
    }

    mutating func add(_ line: Span<UInt8>) -> Bool {
        guard block.make() else { return false }
        if line.count <= 2, line.allSatisfy(Self.isLineEnd) {
            if !isEmpty {
                block.isComplete = true
                status = statusInLine
            }
            block.setOpen(false)
            return true
        }
        block.setOpen(true)
        return block.append(line)
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0D || byte == 0x0A }

    /// The HTTP version, such as "1.1" or "2".
    var version: String? {
        if block.count > 8, isHTTP1, block[6] == 0x2E, block[7] == 0x31, block[8] == 0x20 { return "1.1" }
        var end = Self.versionStart
        let limit = min(block.count, Self.versionStart + 8)
        while end < limit, block[end] != 0x20, !Self.isLineEnd(block[end]) { end += 1 }
        return end > Self.versionStart ? block.text(Self.versionStart..<end) : nil
    }

    var isHTTP1: Bool { block.count > Self.versionStart && block[Self.versionStart] == 0x31 }

    private static let versionStart = 5

    mutating func reset() {
        restart()
        block.received = 0
    }

    /// Defects in the fields that specify where the response ends.
    var framing: (hasUnknownCoding: Bool, hasInvalidLength: Bool) {
        let found = block.framing
        return (found & ERRAND_HEAD_CODING != 0, found & ERRAND_HEAD_LENGTH != 0)
    }

    /// The head's fields without invalid lines. Folded lines are joined with a space (RFC 9112, section 5.2).
    var headers: HTTPHeaders { fields.headers }

    var fields: (headers: HTTPHeaders, mayBeCoded: Bool) {
        fields(from: (block.firstIndex(of: 0x0A) ?? block.count) + 1)
    }

    /// The trailer fields. A trailer section doesn't begin with a status line.
    var trailers: HTTPHeaders { fields(from: 0).headers }

    private var statusInLine: Int {
        // Only "HTTP" in uppercase is valid (RFC 9112, section 2.3), but libcurl accepts any case.
        guard let space = block.firstIndex(of: 0x20), space + 3 < block.count, space > 4, block[0] == UInt8(ascii: "H"),
            block[1] == UInt8(ascii: "T"), block[2] == UInt8(ascii: "T"), block[3] == UInt8(ascii: "P")
        else { return 0 }
        var number = 0
        for index in (space + 1)...(space + 3) {
            let byte = block[index]
            guard byte >= 0x30, byte <= 0x39 else { return 0 }
            number = number * 10 + Int(byte - 0x30)
        }
        let isOver = space + 4 == block.count || block[space + 4] == 0x20 || block[space + 4] < 0x10
        return isOver && number >= 100 ? number : 0
    }

    private func fields(from start: Int) -> (headers: HTTPHeaders, mayBeCoded: Bool) {
        if isEmpty { return (HTTPHeaders(), false) }
        var fields: [HTTPHeaders.Field] = []
        fields.reserveCapacity(Self.usualFields)
        var offset = start
        var mayBeCoded = false
        var next = errand_field()
        while block.next(from: &offset, &next) {
            if next.is_continuation != 0 {
                if let last = fields.indices.last {
                    let rest = value(next)
                    fields[last].value = fields[last].value.isEmpty ? rest : "\(fields[last].value) \(rest)"
                    if isLatin1(next) { fields[last].isLatin1 = true }
                }
                continue
            }
            if next.name_count == Self.contentEncodingBytes { mayBeCoded = true }
            fields.append(field(next))
        }
        return (HTTPHeaders(fields), mayBeCoded)
    }

    private func value(_ field: errand_field) -> String {
        let range = field.value..<field.value + field.value_count
        return field.is_plain != 0 ? block.text(range) : Self.text(block.bytes(range))
    }

    private func field(_ field: errand_field) -> HTTPHeaders.Field {
        let text = value(field)
        guard field.is_plain != 0, var known = Self.known[Int(field.known)] else {
            let name = block.text(field.name..<field.name + field.name_count)
            var made = HTTPHeaders.Field(HTTPHeaderName(name), text)
            made.isLatin1 = isLatin1(field)
            return made
        }
        known.value = text
        return known
    }

    private static let usualFields = 12
    private static let contentEncodingBytes = "Content-Encoding".utf8.count

    /// The fields with common names. Copying them avoids creating and comparing strings.
    private static let known: [HTTPHeaders.Field?] = (0..<Int(ERRAND_HEAD_NAMES)).map { number in
        HeadBlock.name(number).map { name in
            HTTPHeaders.Field(HTTPHeaderName(name.isLower ? name.text.lowercased() : name.text), "")
        }
    }

    /// Decodes a value as UTF-8, or as Latin-1 if the bytes aren't valid UTF-8. Replaces NUL and a stray CR by spaces
    /// (RFC 9110, section 5.5).
    private static func text(_ bytes: [UInt8]) -> String {
        let clean = bytes.map { $0 == 0 || $0 == 0x0D ? 0x20 : $0 }
        if let text = String(validating: clean, as: UTF8.self) { return text }
        var latin = ""
        for byte in clean { latin.unicodeScalars.append(Unicode.Scalar(byte)) }
        return latin
    }

    private func isLatin1(_ field: errand_field) -> Bool {
        if field.is_plain != 0 { return false }
        let bytes = block.bytes(field.value..<field.value + field.value_count)
        return bytes.contains { $0 >= 0x80 } && String(validating: bytes, as: UTF8.self) == nil
    }
}
#endif
