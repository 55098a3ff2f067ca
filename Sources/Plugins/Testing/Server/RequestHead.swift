public import Errand
import ErrandEssentials

/// The first line and the fields of a request. Parsing rejects everything that is ambiguous.
struct RequestHead {
    var method = ""
    var target = ""
    var version = ""
    var headers = HTTPHeaders()

    enum Framing: Equatable {
        case length(Int64)
        case chunked
    }

    /// Returns how the end of the body is found (RFC 9112, section 6.3).
    func framing() throws(RequestFault) -> Framing {
        let codings = headers.values(of: .transferEncoding)
        let lengths = headers.values(of: .contentLength)
        if !codings.isEmpty {
            guard lengths.isEmpty else {
                throw RequestFault(400, "the request has both Content-Length and Transfer-Encoding")
            }
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                throw RequestFault(501, "the request has a transfer coding other than chunked")
            }
            return .chunked
        }
        guard let first = lengths.first else { return .length(0) }
        guard lengths.count == 1, !first.isEmpty, first.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let length = Int64(first)
        else { throw RequestFault(400, "the Content-Length isn't a single number") }
        return .length(length)
    }

    /// Whether the connection stays open after the response (RFC 9112, section 9.3).
    var wantsKeepAlive: Bool {
        guard let connection = headers[.connection]?.lowercased() else { return version == "1.1" }
        if connection == "keep-alive" { return true }
        let options = connection.split(whereSeparator: { $0 == "," || $0 == " " })
        return !options.contains("close") && (version == "1.1" || options.contains("keep-alive"))
    }

    /// Parses the lines before the empty line (RFC 9112, sections 2 to 5). The bytes include the line breaks.
    init(parsing bytes: ArraySlice<UInt8>) throws(RequestFault) {
        var rest = bytes
        let first = try Self.line(&rest)
        let words = first.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[0].allSatisfy(Self.isToken), !words[0].isEmpty, !words[1].isEmpty,
            words[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { throw RequestFault(400, "the first line isn't a method, a target and a version") }
        switch String(decoding: words[2], as: UTF8.self) {
        case "HTTP/1.1": version = "1.1"
        case "HTTP/1.0": version = "1.0"
        default: throw RequestFault(505, "the version isn't HTTP/1.1")
        }
        method = String(decoding: words[0], as: UTF8.self)
        target = String(decoding: words[1], as: UTF8.self)
        headers = try Self.fields(&rest)
        if version == "1.1", headers.values(of: .host).count != 1 {
            throw RequestFault(400, "the request doesn't have exactly one Host field")
        }
    }

    static func fields(_ bytes: inout ArraySlice<UInt8>) throws(RequestFault) -> HTTPHeaders {
        var headers = HTTPHeaders()
        while !bytes.isEmpty {
            let line = try line(&bytes)
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(isToken)
            else { throw RequestFault(400, "a field's name isn't a token") }
            var value = line[(colon + 1)...]
            while let byte = value.first, byte == 0x20 || byte == 0x09 { value.removeFirst() }
            while let byte = value.last, byte == 0x20 || byte == 0x09 { value.removeLast() }
            guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw RequestFault(400, "a field's value contains a control character")
            }
            headers.add(HTTPHeaderName(String(decoding: line[..<colon], as: UTF8.self)), text(value))
        }
        return headers
    }

    private static func line(_ bytes: inout ArraySlice<UInt8>) throws(RequestFault) -> ArraySlice<UInt8> {
        guard let end = bytes.firstIndex(of: 0x0A), end > bytes.startIndex, bytes[end - 1] == 0x0D else {
            throw RequestFault(400, "a line doesn't end with CR and LF")
        }
        defer { bytes = bytes[(end + 1)...] }
        return bytes[..<(end - 1)]
    }

    /// Decodes UTF-8, or Latin-1 if the bytes aren't valid UTF-8.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E:
            true
        default: false
        }
    }
}

/// The error of an invalid request. The ``TestServer`` has rejected the request and responded with the error's status.
public struct RequestFault: DescribedError, Sendable, Hashable {
    /// The status of the response: 400, 413, 417, 431, 501, or 505.
    public let status: Int
    /// The reason why the request is invalid. It doesn't contain text of the request.
    public let reason: String

    init(_ status: Int, _ reason: String) { (self.status, self.reason) = (status, reason) }

    /// The status and the reason, such as "400 a line doesn't end with CR and LF".
    public var description: String { "\(status) \(reason)" }
    /// The code of the `NSError`: the response's status.
    public var errorCode: Int { status }
}
