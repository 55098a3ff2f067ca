import Errand
import ErrandEssentials

extension HARFile {
    /// The request of an entry.
    public struct Request: Codable, Sendable, Hashable {
        /// The request's method, such as "GET".
        public var method: String
        /// The absolute URL without its fragment.
        public var url: String
        /// The HTTP version, such as "HTTP/1.1". It's empty if the version is unknown.
        public var httpVersion: String
        /// The cookies. The format requires this field. It's always empty, because cookies are secrets.
        public var cookies: [Pair] = []
        /// The header fields, with secrets masked.
        public var headers: [Pair]
        /// The URL's query items, percent-encoded.
        public var queryString: [Pair]
        /// The body. It's nil if the body is empty or wasn't recorded.
        public var postData: PostData?
        /// The size of the head in bytes. It's always -1, which means that it's unknown.
        public var headersSize = -1
        /// The body's size in bytes.
        public var bodySize: Int64

        /// Creates a request. The default arguments stand for unknown values: empty texts and lists, and a size of -1.
        public init(
            method: String, url: String, httpVersion: String = "", headers: [Pair] = [], queryString: [Pair] = [],
            postData: PostData? = nil, bodySize: Int64 = -1
        ) {
            (self.method, self.url, self.httpVersion, self.headers) = (method, url, httpVersion, headers)
            (self.queryString, self.postData, self.bodySize) = (queryString, postData, bodySize)
        }
    }

    /// The body of a request.
    public struct PostData: Codable, Sendable, Hashable {
        /// The body's media type, from `Content-Type`.
        public var mimeType: String
        /// The body as text, or in Base64 if ``encoding`` is "base64".
        public var text: String
        /// A comment on how the text differs from the original body.
        public var comment: String?
        /// The encoding of the text: "base64" if the body isn't text. It's stored as `_encoding`, because the format
        /// doesn't have such a field.
        public var encoding: String?

        /// Creates the body of a request.
        public init(mimeType: String, text: String, comment: String? = nil, encoding: String? = nil) {
            (self.mimeType, self.text, self.comment, self.encoding) = (mimeType, text, comment, encoding)
        }

        private enum CodingKeys: String, CodingKey {
            case mimeType, text, comment
            case encoding = "_encoding"
        }
    }

    /// The response of an entry.
    public struct Response: Codable, Sendable, Hashable {
        /// The status code. It's 0 if the response's head didn't arrive.
        public var status: Int
        /// The reason phrase. The format requires this field. It's always empty.
        public var statusText = ""
        /// The HTTP version, such as "HTTP/1.1". It's empty if the version is unknown.
        public var httpVersion: String
        /// The cookies. The format requires this field. It's always empty, because cookies are secrets.
        public var cookies: [Pair] = []
        /// The header fields, with secrets masked.
        public var headers: [Pair]
        /// The body, with its size and type.
        public var content: Content
        /// The target of a redirect. It's empty for other responses.
        public var redirectURL: String
        /// The size of the head in bytes. It's always -1, which means that it's unknown.
        public var headersSize = -1
        /// The size in bytes in which the body was transferred.
        public var bodySize: Int64

        /// Creates a response. Arguments with a default value are optional in the format.
        public init(
            status: Int, httpVersion: String = "", headers: [Pair] = [], content: Content, redirectURL: String = "",
            bodySize: Int64 = -1
        ) {
            (self.status, self.httpVersion, self.headers) = (status, httpVersion, headers)
            (self.content, self.redirectURL, self.bodySize) = (content, redirectURL, bodySize)
        }
    }

    /// The body of a response.
    public struct Content: Codable, Sendable, Hashable {
        /// The size of the decoded body in bytes.
        public var size: Int64
        /// The number of bytes by which a content coding made the transferred body smaller.
        public var compression: Int64?
        /// The media type from `Content-Type`. It's "x-unknown" if the response doesn't have this field.
        public var mimeType: String
        /// The body as text, or in Base64 if ``encoding`` is "base64".
        public var text: String?
        /// The encoding of the text: "base64" if the body isn't text.
        public var encoding: String?
        /// A comment on how the text differs from the original body.
        public var comment: String?

        /// Creates the body of a response.
        public init(
            size: Int64, compression: Int64? = nil, mimeType: String, text: String? = nil, encoding: String? = nil,
            comment: String? = nil
        ) {
            (self.size, self.compression, self.mimeType) = (size, compression, mimeType)
            (self.text, self.encoding, self.comment) = (text, encoding, comment)
        }
    }

    /// The phases of an exchange, in milliseconds. A phase that didn't happen or isn't known is -1. The last three
    /// phases are always known.
    public struct Timings: Codable, Sendable, Hashable {
        /// The wait for a connection.
        public var blocked: Double
        /// The lookup of the host's name.
        public var dns: Double
        /// Opening and securing the connection.
        public var connect: Double
        /// Securing the connection, which is part of ``connect``.
        public var ssl: Double
        /// Sending the request. If its duration is unknown, it's 0, and ``wait`` includes it.
        public var send: Double
        /// The wait for the response's first byte.
        public var wait: Double
        /// Receiving the response.
        public var receive: Double

        /// Creates timings.
        public init(
            blocked: Double = -1, dns: Double = -1, connect: Double = -1, ssl: Double = -1, send: Double = 0,
            wait: Double = 0, receive: Double = 0
        ) {
            (self.blocked, self.dns, self.connect, self.ssl) = (blocked, dns, connect, ssl)
            (self.send, self.wait, self.receive) = (send, wait, receive)
        }

        /// The sum of all phases. ``ssl`` isn't added, because it's part of ``connect``.
        public var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }
}

extension HARFile {
    /// A WebSocket message, in the format that Chromium uses.
    public struct WebSocketMessage: Codable, Sendable, Hashable {
        /// The direction of the message: "send" or "receive".
        public var type: String
        /// The time in seconds since 1970.
        public var time: Double
        /// The type of the message: 1 for text, and 2 for bytes.
        public var opcode: Int
        /// The text, or the bytes in Base64. Secrets are masked. It's empty if bodies aren't recorded.
        public var data: String
        /// The size of the whole message in bytes. It's nil if `data` is complete. It's stored as `_size`, a field that
        /// only Errand writes.
        public var size: Int64?

        /// Creates a message.
        ///
        /// - Parameters:
        ///   - type: "send" or "receive".
        ///   - time: The time in seconds since 1970.
        ///   - opcode: 1 for text, 2 for bytes.
        ///   - data: The text, or the bytes in Base64.
        ///   - size: The size of the whole message in bytes. Defaults to nil, which means that `data` is complete.
        public init(type: String, time: Double, opcode: Int, data: String, size: Int64? = nil) {
            (self.type, self.time, self.opcode, self.data, self.size) = (type, time, opcode, data, size)
        }

        private enum CodingKeys: String, CodingKey {
            case type, time, opcode, data
            case size = "_size"
        }
    }
}

extension HARFile.WebSocketMessage {
    init(_ message: RecordedWebSocket.Message) {
        let body = message.body
        let isWhole = body.omission == nil && !body.isTruncated
        self.init(
            type: message.direction == .sent ? "send" : "receive", time: message.date.timeIntervalSince1970,
            opcode: message.isText ? 1 : 2,
            data: message.isText
                ? body.text ?? String(decoding: body.data, as: UTF8.self) : body.data.base64EncodedString(),
            size: isWhole ? nil : body.length)
    }
}

extension RecordedExchange {
    /// Whether the request asked for a WebSocket. The server may have refused the handshake.
    var isWebSocket: Bool { webSocket != nil || request.headers.requestsWebSocket }

    var droppedMessages: String? {
        guard let count = webSocket?.droppedMessages, count > 0 else { return nil }
        return count == 1 ? "the first message was dropped" : "the first \(count) messages were dropped"
    }
}
