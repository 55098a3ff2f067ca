public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// A response as it was received: a status, headers, a body, and where it came from.
public struct HTTPResponse: Sendable {
    private var fields: CopyOnWrite<Fields>

    private struct Fields {
        var url: MessageURL
        var status: Int
        var headers: HTTPHeaders
        var body: HTTPBody
        var version: String?
        var source: ResponseSource
        var decoder: (any BodyDecoder)?
        var connection: (any ByteConnection)?
    }

    /// Makes a response, for a filter, a transport or a test.
    public init(
        url: URL, status: Int, headers: HTTPHeaders = [:], body: HTTPBody = .empty, version: String? = nil,
        source: ResponseSource = .network
    ) {
        fields = CopyOnWrite(
            Fields(url: .given(url), status: status, headers: headers, body: body, version: version, source: source))
    }

    /// Makes a response to a request; its URL is the request's.
    public init(
        to request: HTTPRequest, status: Int, headers: HTTPHeaders = [:], body: HTTPBody = .empty,
        version: String? = nil, source: ResponseSource = .network
    ) {
        fields = CopyOnWrite(
            Fields(
                url: request.messageURL, status: status, headers: headers, body: body, version: version, source: source)
        )
    }

    /// The URL of the resource that responded, after redirects.
    public var url: URL {
        get { fields.value.url.url }
        set { fields.value.url = .given(newValue) }
    }
    /// The status code (RFC 9110, section 15).
    public var status: Int {
        get { fields.value.status }
        set { fields.value.status = newValue }
    }
    /// The header fields.
    public var headers: HTTPHeaders {
        get { fields.value.headers }
        set { fields.value.headers = newValue }
    }
    /// The body, in memory, in a file or as a stream.
    public var body: HTTPBody {
        get { fields.value.body }
        set { fields.value.body = newValue }
    }
    /// The connection of a response that switches protocols, such as to a WebSocket (101; RFC 9110, section 15.2.2); nil
    /// for any other. Bytes that the server sent behind the head are the first that it receives. Whoever takes it
    /// closes it; where nobody does, it closes with the last copy of the response.
    ///
    /// A transport that sets it has the response accepted, whatever status the request expects.
    public var connection: (any ByteConnection)? {
        get { fields.value.connection }
        set { fields.value.connection = newValue }
    }
    /// "1.1", "2"; nil if it is not known.
    public var version: String? {
        get { fields.value.version }
        set { fields.value.version = newValue }
    }
    /// Where the response came from; the network by default.
    public var source: ResponseSource {
        get { fields.value.source }
        set { fields.value.source = newValue }
    }
    /// The decoder of the request or of the agent; Core sets it before checks and decoding.
    package var decoder: (any BodyDecoder)? {
        get { fields.value.decoder }
        set { fields.value.decoder = newValue }
    }

    /// The body, if it is in memory; empty while it is a stream.
    public var data: Data { body.data ?? Data() }

    /// The media type of `Content-Type` in lower case, without parameters: "application/json". Of several, the last valid
    /// one (Fetch, "extract a MIME type").
    public var mediaType: String? { headers[.contentType].flatMap { MediaType.essence(of: $0) } }

    /// The label of the charset in `Content-Type`, as the server wrote it: "Shift_JIS"; nil if there is none, or an empty
    /// one. ``Charset`` says what it means.
    public var charsetLabel: String? {
        let label = headers[.contentType].flatMap { MediaType(parsing: $0) }?.parameters["charset"] ?? ""
        return label.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? nil : label
    }

    /// The text of a body in memory, by the charset of `Content-Type`, UTF-8 without one; see ``Charset``. Throws
    /// `decodingFailed` for bytes that are not valid in it, and for an unknown charset.
    public func text() throws -> String {
        let label = charsetLabel ?? "utf-8"
        guard let charset = Charset(label: label) else {
            throw ErrandError(
                .decodingFailed, "the charset \(label.prefix(40).debugDescription) of the body is not known",
                response: self)
        }
        guard let text = charset.decode(data) else {
            let problem =
                charset.isAvailable
                ? "the body is not valid \(charset.name) text"
                : "the system has no table of the charset \(charset.name)"
            throw ErrandError(.decodingFailed, problem, response: self)
        }
        return text
    }

    /// A body in memory as JSON: by `decoder`, or by the decoder of the request or of the agent if that is a
    /// `JSONDecoder`. Throws ``ErrandError/Code/decodingFailed``.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self, decoder: JSONDecoder? = nil) throws -> Value {
        try decoded(as: type, by: decoder ?? self.decoder as? JSONDecoder ?? Self.plainDecoder)
    }

    /// A value from a body in memory: by `decoder`, or by the decoder of the request, or of the agent. Throws
    /// ``ErrandError/Code/decodingFailed``.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by decoder: (any BodyDecoder)? = nil
    ) throws -> Value {
        let decoder = decoder ?? self.decoder ?? Self.plainDecoder
        do { return try decoder.decode(type, from: data) } catch {
            let what =
                data.isEmpty
                ? "the body is empty" : encoded ?? (error as? DecodingError)?.summary ?? error.briefDescription
            throw ErrandError(.decodingFailed, "\(type) expected: \(what)", response: self, underlying: error)
        }
    }

    /// What a decoder cannot know: a transport removes the codings that it has decoded from the headers.
    private var encoded: String? {
        guard let coding = headers[.contentEncoding], !coding.isEmpty, coding.lowercased() != "identity" else {
            return nil
        }
        return "the body is still in the content coding \(coding.prefix(40).debugDescription)"
    }

    private static let plainDecoder = JSONDecoder()

    /// The response without a stream and without a connection, for observers: these belong to their reader.
    package var withoutStream: HTTPResponse {
        let isStream = body.data == nil && body.file == nil
        guard isStream || connection != nil else { return self }
        var copy = self
        if isStream { copy.body = .empty }
        copy.connection = nil
        return copy
    }

    /// The same response with the body of the file into which it was written, or with the collected bytes as data.
    package func delivered(to file: PendingFile?) -> HTTPResponse {
        guard let body = file?.body ?? body.collected else { return self }
        var copy = self
        copy.body = body
        return copy
    }

    /// The same response with a body that is read from its beginning, if it is in a file.
    package var reopened: HTTPResponse {
        if body.file == nil { return self }
        var copy = self
        copy.body = body.reopened
        return copy
    }

    /// The response with a copy of the body within an allowance, never the stream.
    package func bounded(by allowance: BodyAllowance) async -> HTTPResponse {
        if let data = body.data, data.count <= allowance.bytes, body.reader == nil { return withoutStream }
        var copy = self
        copy.connection = nil
        copy.body = HTTPBody(await body.prefix(within: allowance))
        return copy
    }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Status and URL, with the values that ``Redaction`` masks by default; no header, no body.
    public var description: String { "\(status) \(Redaction.masked(fields.value.url.text))" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPResponse {
    /// Checks the body against the length that the head announces (RFC 9110, section 8.6). Throws `invalidResponse`, or
    /// the error of a body of another length.
    package func checkFraming(of method: HTTPMethod) throws {
        let lengths = headers.values(of: .contentLength)
        if lengths.isEmpty { return }
        let hasNoBody = method == .head || status == 204 || status == 304
        if hasNoBody || headers.contains(.transferEncoding) { return }
        guard let length = ContentLength.parse(lengths) else {
            body.cancel()
            throw ErrandError(.invalidResponse, "the Content-Length of the response is no number")
        }
        guard let data = body.data else {
            body.reader?.expect(length)
            return
        }
        if Int64(data.count) != length { throw ErrandError.wrongLength(expected: length, received: Int64(data.count)) }
    }
}

/// Where a response came from, and why.
public struct ResponseSource: Sendable, Hashable, CustomStringConvertible {
    private struct Details: Sendable, Hashable {
        let name: String
        let age: Duration?
        let reason: String?
    }

    // One reference, since a response is copied from filter to filter.
    private let details: [Details]

    /// - Parameters:
    ///   - name: "network", or a name of a filter's own, such as "cache".
    ///   - age: the response's age; nil where it was not stored.
    ///   - reason: why the response came from there, in words for a log.
    public init(_ name: String, age: Duration? = nil, reason: String? = nil) {
        details = [Details(name: name, age: age, reason: reason)]
    }

    /// From the server, by the transport.
    public static let network = ResponseSource("network")

    /// A response that was stored before.
    public static func stored(_ name: String = "cache", age: Duration, reason: String) -> ResponseSource {
        ResponseSource(name, age: age, reason: reason)
    }

    /// The name of the source.
    public var name: String { details[0].name }
    /// The age of the response; nil where it was not stored.
    public var age: Duration? { details[0].age }
    /// Why the response came from there.
    public var reason: String? { details[0].reason }
    /// Whether the response was stored before, for example by a cache, and not made for this request.
    public var isStored: Bool { age != nil }

    /// Name, age and reason, in one line.
    public var description: String {
        if age == nil, reason == nil { return name }
        let seconds = age.map { "\($0.bounded.components.seconds) s old" }
        return [name, seconds, reason].compactMap(\.self).joined(separator: ", ")
    }
}
