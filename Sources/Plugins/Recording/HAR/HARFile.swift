public import ErrandEssentials

/// An HTTP Archive (HAR 1.2), which the network panel of a browser opens. The names are the format's.
///
/// ```swift
/// try recorder.harFile().encoded().write(to: directory.appending(path: "errand.har"))
/// ```
///
/// Times are in milliseconds, sizes in bytes, and unknown numbers are -1, as the format requires.
public struct HARFile: Codable, Sendable, Hashable {
    /// The content of the file.
    public var log: Log

    /// Makes a file.
    public init(log: Log) { self.log = log }

    /// The file as JSON, indented, with sorted names.
    ///
    /// - Throws: `EncodingError`, if a time is not finite.
    public func encoded() throws -> Data { try Self.encode(self) }

    fileprivate static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// The content of a file.
    public struct Log: Codable, Sendable, Hashable {
        /// The version of the format: "1.2".
        public var version = "1.2"
        /// The program that wrote the file.
        public var creator: Creator
        /// The entries, one for each request on the wire.
        public var entries: [Entry]
        /// A comment for people; the number of dropped entries, in a file of Errand's.
        public var comment: String?

        /// Makes the content of a file.
        public init(creator: Creator, entries: [Entry], comment: String? = nil) {
            (self.creator, self.entries, self.comment) = (creator, entries, comment)
        }
    }

    /// The program that wrote a file.
    public struct Creator: Codable, Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its version.
        public var version: String

        /// Makes a creator.
        public init(name: String, version: String) { (self.name, self.version) = (name, version) }
    }

    /// One exchange.
    public struct Entry: Codable, Sendable, Hashable {
        /// The time at which the request was sent, in ISO 8601.
        public var startedDateTime: String
        /// The sum of the timings, in milliseconds.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response.
        public var response: Response
        /// Required by the format, and empty.
        public var cache = Cache()
        /// The phases.
        public var timings: Timings
        /// The address of the server.
        public var serverIPAddress: String?
        /// A comment for people; label, attempt, hop and failure, in a file of Errand's.
        public var comment: String?
        /// The reason why there is no response, such as "timedOut"; `_error` in the file, a field that browsers write
        /// too.
        public var error: String?
        /// The kind of the resource: "websocket" for an opening handshake, nil for anything else of Errand's;
        /// `_resourceType` in the file, a field of Chromium's.
        public var resourceType: String?
        /// The messages of a WebSocket; `_webSocketMessages` in the file, a field of Chromium's.
        public var webSocketMessages: [WebSocketMessage]?

        /// Makes an entry.
        public init(
            startedDateTime: String, time: Double, request: Request, response: Response, timings: Timings,
            serverIPAddress: String? = nil, comment: String? = nil, error: String? = nil
        ) {
            (self.startedDateTime, self.time, self.request, self.response) = (startedDateTime, time, request, response)
            (self.timings, self.serverIPAddress, self.comment) = (timings, serverIPAddress, comment)
            self.error = error
        }

        /// The entry as JSON, as it stands in a file: for a program that writes an archive piece by piece.
        ///
        /// - Throws: `EncodingError`, if a time is not finite.
        public func encoded() throws -> Data { try HARFile.encode(self) }

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, comment
            case error = "_error"
            case resourceType = "_resourceType"
            case webSocketMessages = "_webSocketMessages"
        }
    }

    /// The state of a browser's cache; empty.
    public struct Cache: Codable, Sendable, Hashable {
        /// The empty state.
        public init() {}
    }

    /// A header field, a query item or a cookie.
    public struct Pair: Codable, Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Makes a pair.
        public init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }
}
