import Errand
import ErrandEssentials

extension HARFile {
    /// The request of an entry.
    public struct Request: Codable, Sendable, Hashable {
        /// "GET", "POST", …
        public var method: String
        /// The absolute URL without its fragment.
        public var url: String
        /// "HTTP/1.1"; empty where it is not known.
        public var httpVersion: String
        /// Required by the format; empty, since cookies are secrets.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair]
        /// The items of the query, percent-encoded.
        public var queryString: [Pair]
        /// The body; nil for none, and for one that was not recorded.
        public var postData: PostData?
        /// Bytes of the head: not known.
        public var headersSize = -1
        /// Bytes of the body.
        public var bodySize: Int64

        /// Makes a request.
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
        /// The `Content-Type`.
        public var mimeType: String
        /// The body as text.
        public var text: String
        /// The difference from the original body, for people.
        public var comment: String?
        /// "base64" for a body that is not text; `_encoding` in the file, since the format has no field for it.
        public var encoding: String?

        /// Makes a body.
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
        /// The status code; 0 if the head did not arrive.
        public var status: Int
        /// Required by the format, and empty.
        public var statusText = ""
        /// "HTTP/1.1"; empty where it is not known.
        public var httpVersion: String
        /// Required by the format; empty, since cookies are secrets.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair]
        /// The body.
        public var content: Content
        /// The target of a redirect; empty for none.
        public var redirectURL: String
        /// Bytes of the head: not known.
        public var headersSize = -1
        /// Bytes of the body on the wire.
        public var bodySize: Int64

        /// Makes a response.
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
        /// Bytes of the body, its content coding undone.
        public var size: Int64
        /// The number of bytes by which the body on the wire was shorter.
        public var compression: Int64?
        /// The `Content-Type`; "x-unknown" without one.
        public var mimeType: String
        /// The body as text, or in Base64.
        public var text: String?
        /// "base64" for a body that is not text.
        public var encoding: String?
        /// The difference from the original body, for people.
        public var comment: String?

        /// Makes a body.
        public init(
            size: Int64, compression: Int64? = nil, mimeType: String, text: String? = nil, encoding: String? = nil,
            comment: String? = nil
        ) {
            (self.size, self.compression, self.mimeType) = (size, compression, mimeType)
            (self.text, self.encoding, self.comment) = (text, encoding, comment)
        }
    }

    /// The phases of an exchange in milliseconds: -1 for one that did not happen or is not known, except for the last
    /// three.
    public struct Timings: Codable, Sendable, Hashable {
        /// Waited for a connection.
        public var blocked: Double
        /// Looked up the host's name.
        public var dns: Double
        /// Opened and secured the connection.
        public var connect: Double
        /// Secured the connection: a part of ``connect``.
        public var ssl: Double
        /// Sent the request; 0 where it is not known, and then a part of ``wait``.
        public var send: Double
        /// Waited for the response.
        public var wait: Double
        /// Received the response.
        public var receive: Double

        /// Makes the phases.
        public init(
            blocked: Double = -1, dns: Double = -1, connect: Double = -1, ssl: Double = -1, send: Double = 0,
            wait: Double = 0, receive: Double = 0
        ) {
            (self.blocked, self.dns, self.connect, self.ssl) = (blocked, dns, connect, ssl)
            (self.send, self.wait, self.receive) = (send, wait, receive)
        }

        /// All phases together; ``ssl`` is counted once, within ``connect``.
        public var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }
}

extension HARFile {
    /// A message of a WebSocket, as Chromium writes it.
    public struct WebSocketMessage: Codable, Sendable, Hashable {
        /// "send" or "receive".
        public var type: String
        /// When it was sent or received, in seconds since 1970.
        public var time: Double
        /// 1 for text, 2 for bytes.
        public var opcode: Int
        /// The text, or bytes in Base64; secrets masked, and empty if bodies are not recorded.
        public var data: String
        /// Bytes of the whole message, where `data` are not all of it; `_size` in the file, a field of Errand's.
        public var size: Int64?

        /// Makes a message.
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
    /// Whether it is the opening handshake of a WebSocket, accepted or not.
    var isWebSocket: Bool { webSocket != nil || request.headers.requestsWebSocket }

    /// How many messages the recorder has dropped, in words; nil for none.
    var droppedMessages: String? {
        guard let count = webSocket?.droppedMessages, count > 0 else { return nil }
        return count == 1 ? "the first message was dropped" : "the first \(count) messages were dropped"
    }
}
