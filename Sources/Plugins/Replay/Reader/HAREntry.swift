import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax

/// An entry of an archive. Its bodies are stored as ranges of the file.
struct HAREntry: Sendable {
    struct Body: Sendable {
        /// The range of the text's JSON string in the file, without its quotes. Escapes in it aren't decoded.
        var text: Range<Int>?
        var isBase64 = false
        var mimeType: String?
        var parts: [Part] = []
    }

    /// A field of a form. Programs write such fields in addition to the body's text, or instead of it.
    struct Part: Sendable {
        var name = ""
        var value = ""
        var fileName: String?
        var contentType: String?
    }

    private(set) var method = ""
    private(set) var url = ""
    private(set) var requestHeaders = HTTPHeaders()
    private(set) var requestBody = Body()
    private(set) var status = 0
    private(set) var version: String?
    private(set) var headers = HTTPHeaders()
    private(set) var body = Body()
    /// The body's size in bytes according to the file, or -1.
    private(set) var size = -1.0
    /// The number of bytes by which a content coding made the transferred body smaller.
    private(set) var compression = 0.0
    /// Whether the body is incomplete, according to a note that Errand's recorder writes.
    private(set) var isCut = false
    private(set) var redirectURL = ""
    private(set) var timeToHead = Duration.zero
    private(set) var timeToReceive = Duration.zero
    private(set) var failure = ""
    private(set) var comment = ""
    /// Whether the file marks the entry as a WebSocket. Some programs do so although the URL is an HTTP URL.
    private var isWebSocket = false

    /// Whether the entry is an HTTP exchange. It's false, for example, for data URLs, WebSockets, and the pages of
    /// browser extensions.
    var isHTTP: Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        return (scheme == "http" || scheme == "https") && method != "CONNECT" && !isWebSocket
    }
}

extension HAREntry {
    private static let urlLimit = 64 << 10
    private static let headLimit = 1 << 20

    init(_ reader: inout JSONReader) throws(HARError) {
        var hasRequest = false
        var entry = HAREntry()
        try reader.object { (reader, name) throws(HARError) in
            switch name {
            case "request":
                hasRequest = true
                try entry.readRequest(&reader)
            case "response": try entry.readResponse(&reader)
            case "timings": try entry.readTimings(&reader)
            case "_error": try entry.readError(&reader)
            case "_resourceType":
                // This field isn't part of the format, so it can have any type.
                guard try reader.space() == UInt8(ascii: "\"") else { return try reader.skipValue() }
                entry.isWebSocket = try reader.beginning(limit: 64)?.text == "websocket"
            case "comment": entry.comment = try reader.beginning(limit: 4096)?.text ?? ""
            default: try reader.skipValue()
            }
        }
        guard hasRequest else { throw reader.fault(.notHAR, "the request is missing") }
        self = entry
    }

    private mutating func readRequest(_ reader: inout JSONReader) throws(HARError) {
        var entry = self
        try reader.object { (reader, name) throws(HARError) in
            switch name {
            case "method":
                try reader.expectString()
                entry.method = try reader.string(limit: 256) ?? ""
            case "url":
                try reader.expectString()
                let url = try reader.beginning(limit: Self.urlLimit)
                entry.url = url?.text ?? ""
                if url?.isCut == true, entry.isHTTP {
                    throw reader.fault(.tooLarge, "a URL of more than \(Self.urlLimit) bytes")
                }
            case "headers": entry.requestHeaders = try Self.headers(&reader)
            case "postData": entry.requestBody = try Self.requestBody(&reader)
            default: try reader.skipValue()
            }
        }
        if entry.method.isEmpty { throw reader.fault(.notHAR, "the method is missing") }
        if entry.url.isEmpty { throw reader.fault(.notHAR, "the URL is missing") }
        self = entry
    }

    private mutating func readResponse(_ reader: inout JSONReader) throws(HARError) {
        var entry = self
        var cookies: [HARCookie] = []
        try reader.objectOrNull { (reader, name) throws(HARError) in
            switch name {
            case "cookies": cookies = try HARCookie.list(&reader)
            case "status":
                // Some programs write a text or null for a request without a response.
                let status = try reader.number() ?? 0
                guard status.rounded() == status, (-1...999).contains(status) else {
                    throw reader.fault(.notHAR, "expected a status")
                }
                entry.status = max(0, Int(status))
            case "httpVersion": entry.version = Self.version(try reader.beginning(limit: 64)?.text ?? "")
            case "headers": entry.headers = try Self.headers(&reader)
            case "content": try entry.readContent(&reader)
            case "redirectURL": entry.redirectURL = try reader.string(limit: Self.urlLimit) ?? ""
            case "_error", "_failureText": try entry.readError(&reader)
            default: try reader.skipValue()
            }
        }
        // Some programs record cookies only in this list.
        if !entry.headers.contains(.setCookie) {
            for cookie in cookies { if let field = cookie.field { entry.headers.add(.setCookie, field) } }
        }
        self = entry
    }

    /// Reads an unofficial field, which can have any type.
    private mutating func readError(_ reader: inout JSONReader) throws(HARError) {
        guard try reader.space() == UInt8(ascii: "\"") else { return try reader.skipValue() }
        failure = try reader.string(limit: 4096) ?? ""
    }

    private mutating func readContent(_ reader: inout JSONReader) throws(HARError) {
        var entry = self
        try reader.objectOrNull { (reader, name) throws(HARError) in
            switch name {
            case "text": entry.body.text = try reader.stringRange()
            case "encoding": entry.body.isBase64 = try reader.beginning(limit: 64)?.text.lowercased() == "base64"
            case "mimeType": entry.body.mimeType = try reader.string(limit: Self.urlLimit)
            case "size": entry.size = try reader.number() ?? -1
            case "comment": entry.isCut = try reader.beginning(limit: 256)?.text.hasPrefix("the first ") == true
            case "compression": entry.compression = try reader.number() ?? 0
            default: try reader.skipValue()
            }
        }
        self = entry
    }

    private static func requestBody(_ reader: inout JSONReader) throws(HARError) -> Body {
        var body = Body()
        try reader.objectOrNull { (reader, name) throws(HARError) in
            switch name {
            case "text": body.text = try reader.stringRange()
            case "encoding", "_encoding": body.isBase64 = try reader.beginning(limit: 64)?.text.lowercased() == "base64"
            case "mimeType": body.mimeType = try reader.string(limit: Self.urlLimit)
            case "params": body.parts = try parts(&reader)
            default: try reader.skipValue()
            }
        }
        return body
    }

    /// Reads header fields. Skips the pseudo-fields of HTTP/2, such as `:status`. Splits values at line breaks, because
    /// programs join fields with the same name, and use various line breaks for it.
    private static func headers(_ reader: inout JSONReader) throws(HARError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in try parts(&reader) {
            let (name, value) = (HTTPHeaderName(field.name), field.value)
            guard name.isValid else { continue }
            if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
                headers.add(name, String(ASCII.trimmed(Substring(value))))
                continue
            }
            // This splits bytes, because CR LF is a single character in Swift.
            for line in value.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map(Substring.init) {
                let plain = line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F || $0.value == 0x09 }
                headers.add(name, String(ASCII.trimmed(Substring(plain))))
            }
        }
        return headers
    }

    private static func parts(_ reader: inout JSONReader) throws(HARError) -> [Part] {
        var parts: [Part] = []
        var bytes = 0
        try reader.arrayOrNull { (reader, _) throws(HARError) in
            var part = Part()
            try reader.object { (reader, member) throws(HARError) in
                switch member {
                case "name": part.name = try reader.string(limit: headLimit) ?? ""
                case "value": part.value = try reader.string(limit: headLimit) ?? ""
                case "fileName": part.fileName = try reader.string(limit: headLimit)
                case "contentType": part.contentType = try reader.string(limit: headLimit)
                default: try reader.skipValue()
                }
            }
            bytes += part.name.utf8.count + part.value.utf8.count + (part.fileName ?? "").utf8.count + 32
            guard bytes <= headLimit else { throw reader.fault(.tooLarge, "fields of more than \(headLimit) bytes") }
            parts.append(part)
        }
        return parts
    }

    /// Returns the number of an HTTP version: "1.1" for "HTTP/1.1", and "2" for "h2" and "http/2.0".
    private static func version(_ text: String) -> String? {
        let digits = text.drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "." }
        if digits.isEmpty { return nil }
        return digits.hasSuffix(".0") && digits != "1.0" ? String(digits.dropLast(2)) : String(digits)
    }

    private mutating func readTimings(_ reader: inout JSONReader) throws(HARError) {
        var (head, receive) = (0.0, 0.0)
        try reader.objectOrNull { (reader, name) throws(HARError) in
            switch name {
            case "blocked", "dns", "connect", "send", "wait": head += max(0, try reader.number() ?? 0)
            case "receive": receive = max(0, try reader.number() ?? 0)
            default: try reader.skipValue()
            }
        }
        (timeToHead, timeToReceive) = (Self.duration(head), Self.duration(receive))
    }

    /// Returns a duration. The number is limited, because converting a huge number traps.
    private static func duration(_ milliseconds: Double) -> Duration { .milliseconds(min(milliseconds, 1e15)).bounded }
}
