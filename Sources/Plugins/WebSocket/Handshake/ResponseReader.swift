import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// Reads the response to an opening handshake (RFC 9112). If the server refuses the upgrade, reads the start of the
/// response's body too.
struct ResponseReader {
    struct Head: Equatable {
        var status: Int
        var version: String
        var headers = HTTPHeaders()
    }

    /// How the end of the body is found (RFC 9112, section 6.3).
    private enum Framing: Equatable { case none, length(Int), chunked, untilEnd }

    private var bytes = Data()
    private let headLimit: Int
    private(set) var head: Head?

    init(headLimit: Int = 64 << 10) { self.headLimit = headLimit }

    var rest: Data { Data(bytes) }

    mutating func push(_ data: Data) { bytes.append(data) }

    /// Reads the response's head. Skips informational heads, except 101.
    mutating func readHead() throws(ErrandError) -> Bool {
        while head == nil {
            guard let end = Self.endOfHead(in: bytes) else {
                try check(bytes.count)
                return false
            }
            try check(bytes.distance(from: bytes.startIndex, to: end.lowerBound))
            let head = try Self.parse(bytes[..<end.lowerBound])
            bytes = Data(bytes[end.upperBound...])
            if head.status == 101 || head.status >= 200 { self.head = head }
        }
        return true
    }

    private func check(_ count: Int) throws(ErrandError) {
        if count > headLimit { throw Self.invalid("the head of the response is longer than \(headLimit) bytes") }
    }

    func body(upTo limit: Int, isAtEnd: Bool) throws(ErrandError) -> Data? {
        switch try framing() {
        case .none: return Data()
        case .length(let length):
            return isAtEnd || bytes.count >= min(length, limit) ? Data(bytes.prefix(min(length, limit))) : nil
        case .untilEnd: return isAtEnd || bytes.count >= limit ? Data(bytes.prefix(limit)) : nil
        case .chunked:
            let (content, isComplete) = Self.unchunked(bytes)
            // Chunks can be tiny, so the bytes between them are limited too.
            let isCut = content.count >= limit || bytes.count - limit >= headLimit
            return isComplete || isAtEnd || isCut ? content.prefix(limit) : nil
        }
    }

    private func framing() throws(ErrandError) -> Framing {
        guard let head, head.status != 101, head.status != 204, head.status != 304 else { return .none }
        let codings = head.headers.values(of: .transferEncoding)
        if !codings.isEmpty {
            return codings.count == 1 && ASCII.equalsIgnoringCase(codings[0], "chunked") ? .chunked : .untilEnd
        }
        let lengths = head.headers.values(of: .contentLength)
        if lengths.isEmpty { return .untilEnd }
        guard let length = ContentLength.parse(lengths) else {
            throw Self.invalid("the response's Content-Length isn't a number")
        }
        return .length(Int(clamping: length))
    }

    /// Returns the range from the end of the last line to the end of the head. Lines may end without a carriage return
    /// (RFC 9112, section 2.2).
    private static func endOfHead(in bytes: Data) -> Range<Data.Index>? {
        var last: Data.Index?
        for index in bytes.indices where bytes[index] == 0x0A {
            if let last, index == last + 1 || index == last + 2 && bytes[last + 1] == 0x0D {
                return last..<(index + 1)
            }
            last = index
        }
        return nil
    }

    private static func invalid(_ message: String) -> ErrandError { ErrandError(.invalidResponse, message) }

    private static func parse(_ text: Data) throws(ErrandError) -> Head {
        var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.last == 0x0D ? line.dropLast() : line
        }
        let first = [UInt8](lines.removeFirst())
        let status = first.dropFirst(9).prefix(3)
        guard first.starts(with: "HTTP/1.".utf8), first.count >= 12, first[8] == 0x20, ASCII.isDigit(first[7]),
            status.allSatisfy(ASCII.isDigit), first.count == 12 || first[12] == 0x20,
            let number = Int(String(decoding: status, as: UTF8.self)), number >= 100
        else { throw invalid("the response's status line is invalid") }
        var head = Head(status: number, version: String(decoding: first[5..<8], as: UTF8.self))
        var fields: [HTTPHeaders.Field] = []
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
                throw invalid("a header field of the response is invalid")
            }
            let name = HTTPHeaderName(String(decoding: line[..<colon], as: UTF8.self))
            let value = line[line.index(after: colon)...]
            guard name.isValid, value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw invalid("a header field of the response is invalid")
            }
            var field = HTTPHeaders.Field(name, String(ASCII.trimmed(Self.text(value)[...])))
            field.isLatin1 = String(validating: value, as: UTF8.self) == nil
            fields.append(field)
        }
        head.headers = HTTPHeaders(fields)
        return head
    }

    /// Decodes UTF-8, or Latin-1 if the bytes aren't valid UTF-8.
    private static func text(_ bytes: Data) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    /// Removes the chunk framing (RFC 9112, section 7.1). Includes the bytes of an incomplete last chunk.
    private static func unchunked(_ bytes: Data) -> (Data, isComplete: Bool) {
        var content = Data()
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            let digits = rest[..<end].prefix { ASCII.isHexDigit($0) }
            guard !digits.isEmpty, digits.count <= 7, let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return (content, true) }
            if size == 0 { return (content, true) }
            rest = rest[rest.index(after: end)...]
            content.append(rest.prefix(size))
            guard rest.count >= size + 2 else { return (content, false) }
            rest = rest.dropFirst(size + 2)
        }
        return (content, false)
    }
}
