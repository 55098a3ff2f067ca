public import Errand
public import ErrandEssentials
import ErrandSupport

struct ResponseEncoder {
    let response: TestResponse
    let isHead: Bool
    let closes: Bool

    var hasBody: Bool {
        !isHead && response.status >= 200 && response.status != 204 && response.status != 304
    }

    func informational(into bytes: inout [UInt8], _ index: Int) {
        let (status, headers) = response.informational[index]
        Self.line(status, nil, into: &bytes)
        Self.fields(headers, into: &bytes)
        bytes.append("\r\n")
    }

    func head(into bytes: inout [UInt8]) {
        if case .raw = response.content { return }
        Self.line(response.status, response.reason, into: &bytes)
        Self.fields(response.headers, into: &bytes)
        let isFramed = response.headers.contains(.contentLength) || response.headers.contains(.transferEncoding)
        if !isFramed, response.status >= 200, response.status != 204 {
            switch response.framing {
            case .length:
                if response.status != 304 {
                    bytes.append("Content-Length: ")
                    bytes.append(number: response.content.count, radix: 10)
                    bytes.append("\r\n")
                }
            case .chunked: bytes.append("Transfer-Encoding: chunked\r\n")
            case .untilClose: break
            }
        }
        if closes, !response.headers.contains(.connection) { bytes.append("Connection: close\r\n") }
        bytes.append("\r\n")
    }

    func body(_ emit: (Span<UInt8>) throws -> Void) rethrows {
        if case .raw(let data) = response.content { return try emit(data.span) }
        guard hasBody else { return }
        guard case .chunked(let sizes) = response.framing else { return try content(0..<response.content.count, emit) }
        let lineEnd = ContiguousArray("\r\n".utf8)
        var position = 0
        let count = response.content.count
        for size in sizes + [count] where size > 0 && position < count {
            let end = position + min(size, count - position)
            var frame: [UInt8] = []
            frame.append(number: end - position, radix: 16)
            frame.append("\r\n")
            try frame.withSpan(emit)
            try content(position..<end, emit)
            try emit(lineEnd.span)
            position = end
        }
        var last: [UInt8] = []
        last.append("0\r\n")
        Self.fields(response.trailers, into: &last)
        last.append("\r\n")
        try last.withSpan(emit)
    }

    private func content(_ range: Range<Int>, _ emit: (Span<UInt8>) throws -> Void) rethrows {
        switch response.content {
        case .data(let data): try emit(data.span.extracting(range))
        case .raw(let data): try emit(data.span.extracting(range))
        case .repeated(let unit, _):
            var position = range.lowerBound
            while position < range.upperBound {
                let offset = position % unit.count
                let count = min(unit.count - offset, range.upperBound - position)
                try emit(unit.span.extracting(offset..<(offset + count)))
                position += count
            }
        }
    }

    private static func line(_ status: Int, _ reason: String?, into bytes: inout [UInt8]) {
        bytes.append("HTTP/1.1 ")
        bytes.append(number: status, radix: 10)
        bytes.append(" ")
        bytes.append(reason ?? Self.reason(of: status))
        bytes.append("\r\n")
    }

    private static func fields(_ headers: HTTPHeaders, into bytes: inout [UInt8]) {
        for field in headers {
            bytes.append(field.name.rawName)
            bytes.append(": ")
            bytes.append(field.value)
            bytes.append("\r\n")
        }
    }

    private static func reason(of status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 103: "Early Hints"
        case 104: "Upload Resumption Supported"
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 418: "I'm a teapot"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: ""
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: String) { append(contentsOf: text.utf8) }

    fileprivate mutating func append(number: Int, radix: Int) { append(String(number, radix: radix)) }
}

extension TestResponse {
    /// Returns all bytes that the server sends for this response, without its faults and waits. With this, a test can
    /// cut the response after each byte.
    public func wireBytes(to method: HTTPMethod = .get) -> Data {
        var bytes: [UInt8] = []
        let encoder = ResponseEncoder(response: self, isHead: method == .head, closes: ending.isClose)
        for index in informational.indices { encoder.informational(into: &bytes, index) }
        encoder.head(into: &bytes)
        encoder.body { bytes.append(contentsOf: $0) }
        return Data(bytes)
    }
}
