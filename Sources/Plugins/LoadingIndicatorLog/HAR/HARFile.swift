/// The parts of an HTTP Archive 1.2 that are written; the names are the format's.
struct HARFile: Codable, Sendable {
    struct Log: Codable, Sendable {
        var version = "1.2"
        var creator: Creator
        var entries: [Entry]
        var comment: String?
    }

    struct Creator: Codable, Sendable {
        var name: String
        var version: String
    }

    struct Entry: Codable, Sendable {
        var startedDateTime: String
        /// Milliseconds, as all times here.
        var time: Double
        var request: Request
        var response: Response
        var cache = Cache()
        var timings: Timings
        var serverIPAddress: String?
        var comment: String?
    }

    struct Cache: Codable, Sendable {}

    struct Pair: Codable, Sendable {
        var name: String
        var value: String
    }

    struct Request: Codable, Sendable {
        var method: String
        var url: String
        var httpVersion: String
        var cookies: [Pair] = []
        var headers: [Pair]
        var queryString: [Pair]
        var postData: PostData?
        var headersSize = -1
        var bodySize: Int64
    }

    struct PostData: Codable, Sendable {
        var mimeType: String
        var text: String
        var comment: String?
    }

    struct Response: Codable, Sendable {
        var status: Int
        var statusText = ""
        var httpVersion: String
        var cookies: [Pair] = []
        var headers: [Pair]
        var content: Content
        var redirectURL: String
        var headersSize = -1
        var bodySize: Int64
    }

    struct Content: Codable, Sendable {
        /// Bytes of the body, its codings undone.
        var size: Int64
        /// How many bytes fewer came over the wire.
        var compression: Int64?
        var mimeType: String
        /// As the body came, or in Base64.
        var text: String?
        /// "base64" for what is not text.
        var encoding: String?
        var comment: String?
    }

    /// -1 where a phase did not happen or is not known; never for the last three.
    struct Timings: Codable, Sendable {
        var blocked = -1.0
        var dns = -1.0
        var connect = -1.0
        var ssl = -1.0
        var send = 0.0
        var wait = 0.0
        var receive = 0.0

        /// The part for TLS is in that for connecting.
        var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }

    var log: Log
}
