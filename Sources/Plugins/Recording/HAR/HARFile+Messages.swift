import Errand
import ErrandEssentials

extension HARFile {
    /// An entry's request.
    public struct Request: Codable, Sendable, Hashable {
        /// The request's method, such as "GET".
        public var method: String
        /// The absolute URL without its fragment.
        public var url: String
        /// The version, such as "HTTP/1.1". Empty if unknown.
        public var httpVersion: String
        /// Always empty, because cookies are secrets. Required by the format.
        public var cookies: [Pair] = []
        /// The header fields, with secrets masked.
        public var headers: [Pair]
        /// The URL's query items, percent-encoded.
        public var queryString: [Pair]
        /// The body. Nil if it's empty or wasn't recorded.
        public var postData: PostData?
        /// The size of the head in bytes. Always -1: unknown.
        public var headersSize = -1
        /// The body's size in bytes.
        public var bodySize: Int64

        /// Creates a request. The defaults stand for unknown values: empty text and lists, and a size of -1.
        public init(
            method: String, url: String, httpVersion: String = "", headers: [Pair] = [], queryString: [Pair] = [],
            postData: PostData? = nil, bodySize: Int64 = -1
        ) {
            (self.method, self.url, self.httpVersion, self.headers) = (method, url, httpVersion, headers)
            (self.queryString, self.postData, self.bodySize) = (queryString, postData, bodySize)
        }
    }

    /// A request's body.
    public struct PostData: Codable, Sendable, Hashable {
        /// The media type, from `Content-Type`.
        public var mimeType: String
        /// The body as text, or in Base64 if ``encoding`` is "base64".
        public var text: String
        /// How the text differs from the original body.
        public var comment: String?
        /// "base64" if the body isn't text. Stored as `_encoding`, because the format has no such field.
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

    /// An entry's response.
    public struct Response: Codable, Sendable, Hashable {
        /// The status code, or 0 if the head didn't arrive.
        public var status: Int
        /// Always empty. Required by the format.
        public var statusText = ""
        /// The version, such as "HTTP/1.1". Empty if unknown.
        public var httpVersion: String
        /// Always empty, because cookies are secrets. Required by the format.
        public var cookies: [Pair] = []
        /// The header fields, with secrets masked.
        public var headers: [Pair]
        /// The body, with its size and type.
        public var content: Content
        /// A redirect's target. Empty for other responses.
        public var redirectURL: String
        /// The size of the head in bytes. Always -1: unknown.
        public var headersSize = -1
        /// The body's size on the wire in bytes.
        public var bodySize: Int64

        /// Creates a response. Arguments with a default are optional in the format.
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
        /// The decoded body's size in bytes.
        public var size: Int64
        /// The number of bytes that content coding saved on the wire.
        public var compression: Int64?
        /// The `Content-Type`, or "x-unknown".
        public var mimeType: String
        /// The body as text or Base64.
        public var text: String?
        /// "base64" if the body isn't text.
        public var encoding: String?
        /// How the text differs from the original body.
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

    /// The phases of an exchange in milliseconds. Phases that didn't happen or aren't known are -1, except the last
    /// three.
    public struct Timings: Codable, Sendable, Hashable {
        /// The wait for a connection.
        public var blocked: Double
        /// The lookup of the host's name.
        public var dns: Double
        /// Opening and securing the connection.
        public var connect: Double
        /// Securing the connection, which is part of ``connect``.
        public var ssl: Double
        /// Sending the request. If unknown, it's 0 and part of ``wait``.
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

        /// The sum of all phases. ``ssl`` is part of ``connect``.
        public var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }
}

extension HARFile {
    /// A WebSocket message, in Chromium's format.
    public struct WebSocketMessage: Codable, Sendable, Hashable {
        /// "send" or "receive".
        public var type: String
        /// The time in seconds since 1970.
        public var time: Double
        /// 1 for text, 2 for bytes.
        public var opcode: Int
        /// The text, or the bytes in Base64, with secrets masked. Empty if bodies aren't recorded.
        public var data: String
        /// The whole message's size in bytes, if `data` is only a part. Stored as `_size`, Errand's own field.
        public var size: Int64?

        /// Creates a message.
        ///
        /// - Parameters:
        ///   - type: "send" or "receive".
        ///   - time: The time in seconds since 1970.
        ///   - opcode: 1 for text, 2 for bytes.
        ///   - data: The text, or the bytes in Base64.
        ///   - size: The whole message's size in bytes. Defaults to nil: `data` is complete.
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
    /// The server may have refused the handshake.
    var isWebSocket: Bool { webSocket != nil || request.headers.requestsWebSocket }

    var droppedMessages: String? {
        guard let count = webSocket?.droppedMessages, count > 0 else { return nil }
        return count == 1 ? "the first message was dropped" : "the first \(count) messages were dropped"
    }
}
