#if os(Linux) || os(Android)
import CErrandCurl
import Errand

/// Status line and header fields as received: collected line by line, parsed once.
struct ResponseHead: ~Copyable {
    private var block: UnsafeMutablePointer<errand_head>?
    var isComplete: Bool { block.map { $0.pointee.is_complete != 0 } ?? false }
    /// 0 until the head is complete, and if its status line has none.
    private(set) var status = 0

    deinit { errand_head_free(block) }

    var isEmpty: Bool { bytes.isEmpty }

    /// Whether a line was rejected that libcurl would have added to a field of another response.
    var isRefused: Bool { block.map { $0.pointee.is_refused != 0 } ?? false }

    /// The bytes of all lines of the response, those of informational heads and of trailers included.
    var received: Int { block?.pointee.received ?? 0 }

    private var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: block?.pointee.bytes, count: block?.pointee.count ?? 0)
    }

    /// The user data of libcurl's callbacks: they collect lines themselves where nothing else has to be done, and pass
    /// the others to `line` and the body to `body`, with the handle. Nil if there is no memory.
    mutating func open(
        for handle: UnsafeMutableRawPointer, at now: UnsafePointer<UInt64>, limit: Int, isWatched: Bool,
        _ line: errand_curl_data_callback, _ body: errand_curl_data_callback
    ) -> UnsafeMutableRawPointer? {
        if block == nil { block = errand_head_make() }
        guard let block else { return nil }
        block.pointee.user = handle
        block.pointee.now = now
        block.pointee.limit = max(0, limit)
        block.pointee.is_watched = isWatched ? 1 : 0
        block.pointee.has_field = 0
        block.pointee.line = line
        block.pointee.body = body
        return UnsafeMutableRawPointer(block)
    }

    /// Counts the bytes of a line; false beyond the limit.
    mutating func count(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let block, line.count <= block.pointee.limit - block.pointee.received else { return false }
        block.pointee.received += line.count
        return true
    }

    mutating func restart() {
        block?.pointee.count = 0
        block?.pointee.is_open = 0
        block?.pointee.is_complete = 0
        status = 0
    }

    /// Adds one line; false if there is no memory for it.
    mutating func add(_ line: UnsafeRawBufferPointer) -> Bool {
        if block == nil { block = errand_head_make() }
        guard let block else { return false }
        if line.count <= 2, line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            if !isEmpty {
                block.pointee.is_complete = 1
                status = Self.status(in: bytes)
            }
            block.pointee.is_open = 0
            return true
        }
        block.pointee.is_open = 1
        return errand_head_append(block, line.baseAddress, line.count) != 0
    }

    /// "1.1" or "2", from "HTTP/1.1 200".
    var version: String? {
        let bytes = bytes
        if bytes.count > 8, isHTTP1, bytes[6] == 0x2E, bytes[7] == 0x31, bytes[8] == 0x20 { return "1.1" }
        let text = bytes.dropFirst(5).prefix(8).prefix { $0 != 0x20 && $0 != 0x0D && $0 != 0x0A }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// Whether the status line begins with "HTTP/1".
    var isHTTP1: Bool { bytes.count > 5 && bytes[5] == 0x31 }

    /// Forgets everything: the request is sent again.
    mutating func reset() {
        restart()
        block?.pointee.received = 0
    }

    /// What the fields say of the end of the response.
    var framing: (hasUnknownCoding: Bool, hasInvalidLength: Bool) {
        let found = block.map { errand_head_framing($0.pointee.bytes, $0.pointee.count) } ?? 0
        return (found & ERRAND_HEAD_CODING != 0, found & ERRAND_HEAD_LENGTH != 0)
    }

    /// The header fields, in order, duplicates kept, folded lines joined by a space (RFC 9112, section 5.2). A line
    /// that is no header field is left out.
    var headers: HTTPHeaders { fields.headers }

    /// The same, and whether a `Content-Encoding` may be among them.
    var fields: (headers: HTTPHeaders, mayBeCoded: Bool) {
        fields(from: (bytes.firstIndex(of: 0x0A) ?? bytes.count) + 1)
    }

    /// The fields of a trailer section, which has no status line.
    var trailers: HTTPHeaders { fields(from: 0).headers }

    private static func status(in bytes: UnsafeRawBufferPointer) -> Int {
        // "HTTP", in that case (RFC 9112, section 2.3): libcurl accepts any.
        guard let space = bytes.firstIndex(of: 0x20), space + 3 < bytes.count, space > 4,
            UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)) == 0x4854_5450
        else { return 0 }
        var number = 0
        for byte in bytes[(space + 1)...(space + 3)] {
            guard byte >= 0x30, byte <= 0x39 else { return 0 }
            number = number * 10 + Int(byte - 0x30)
        }
        let isOver = space + 4 == bytes.count || bytes[space + 4] == 0x20 || bytes[space + 4] < 0x10
        return isOver && number >= 100 ? number : 0
    }

    private func fields(from start: Int) -> (headers: HTTPHeaders, mayBeCoded: Bool) {
        guard let block else { return (HTTPHeaders(), false) }
        let bytes = bytes
        var fields: [HTTPHeaders.Field] = []
        fields.reserveCapacity(Self.usualFields)
        var offset = start
        var mayBeCoded = false
        var next = errand_field()
        while errand_head_next(block.pointee.bytes, bytes.count, &offset, &next) != 0 {
            if next.is_continuation != 0 {
                if let last = fields.indices.last { fields[last].value += " " + Self.value(next, in: bytes) }
                continue
            }
            if next.name_count == Self.contentEncodingBytes { mayBeCoded = true }
            fields.append(Self.field(next, in: bytes))
        }
        return (HTTPHeaders(fields), mayBeCoded)
    }

    private static func value(_ field: errand_field, in bytes: UnsafeRawBufferPointer) -> String {
        let value = UnsafeRawBufferPointer(rebasing: bytes[field.value..<field.value + field.value_count])
        return field.is_plain != 0 ? String(decoding: value, as: UTF8.self) : text(value)
    }

    private static func field(_ field: errand_field, in bytes: UnsafeRawBufferPointer) -> HTTPHeaders.Field {
        let text = value(field, in: bytes)
        guard field.is_plain != 0, var known = known[Int(field.known)] else {
            let name = String(decoding: bytes[field.name..<field.name + field.name_count], as: UTF8.self)
            var made = HTTPHeaders.Field(HTTPHeaderName(name), text)
            if field.is_plain == 0 { made.isLatin1 = isLatin1(bytes[field.value..<field.value + field.value_count]) }
            return made
        }
        known.value = text
        return known
    }

    private static let usualFields = 12
    private static let contentEncodingBytes = "Content-Encoding".utf8.count

    /// Fields without a value for the most common names, so that no string is made for them and none is compared.
    private static let known: [HTTPHeaders.Field?] = (0..<Int(ERRAND_HEAD_NAMES)).map { number in
        var isLower: Int32 = 0
        guard let name = errand_head_name(Int32(number), &isLower) else { return nil }
        let text = String(cString: name)
        return HTTPHeaders.Field(HTTPHeaderName(isLower != 0 ? text.lowercased() : text), "")
    }

    /// UTF-8 if it is valid, else Latin-1. NUL and a stray CR become spaces (RFC 9110, section 5.5).
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        let clean = bytes.map { $0 == 0 || $0 == 0x0D ? 0x20 : $0 }
        if let text = String(validating: clean, as: UTF8.self) { return text }
        var latin = ""
        for byte in clean { latin.unicodeScalars.append(Unicode.Scalar(byte)) }
        return latin
    }

    /// Whether the bytes are not UTF-8.
    private static func isLatin1(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        bytes.contains { $0 >= 0x80 } && String(validating: bytes, as: UTF8.self) == nil
    }
}
#endif
