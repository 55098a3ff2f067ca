public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// A response as received: a status, headers, a body, and its source.
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

    /// Creates a response, for a filter, a transport or a test.
    public init(
        url: URL, status: Int, headers: HTTPHeaders = [:], body: HTTPBody = .empty, version: String? = nil,
        source: ResponseSource = .network
    ) {
        fields = CopyOnWrite(
            Fields(url: .given(url), status: status, headers: headers, body: body, version: version, source: source))
    }

    /// Creates a response to a request, with the request's URL.
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
    /// The response's header fields.
    public var headers: HTTPHeaders {
        get { fields.value.headers }
        set { fields.value.headers = newValue }
    }
    /// The response's body, in memory, in a file or as a stream.
    public var body: HTTPBody {
        get { fields.value.body }
        set { fields.value.body = newValue }
    }
    /// The connection of a response that switches protocols, for example to a WebSocket (101; RFC 9110, section
    /// 15.2.2); otherwise `nil`. It first receives the bytes that the server sent after the head.
    ///
    /// If you take the connection, close it. Otherwise it closes when the last copy of the response is released. A
    /// response with a connection is accepted whatever status the request expects.
    public var connection: (any ByteConnection)? {
        get { fields.value.connection }
        set { fields.value.connection = newValue }
    }
    /// The HTTP version, "1.1" or "2" for example; `nil` if unknown.
    public var version: String? {
        get { fields.value.version }
        set { fields.value.version = newValue }
    }
    /// Where the response came from; defaults to the network.
    public var source: ResponseSource {
        get { fields.value.source }
        set { fields.value.source = newValue }
    }
    /// The decoder of the request or agent. Core sets it before checks and decoding.
    package var decoder: (any BodyDecoder)? {
        get { fields.value.decoder }
        set { fields.value.decoder = newValue }
    }

    /// The body's bytes, if they are in memory; empty while the body is a stream.
    public var data: Data { body.data ?? Data() }

    /// The media type in `Content-Type`, in lower case and without parameters: "application/json". The last valid one
    /// of several counts (Fetch, "extract a MIME type").
    public var mediaType: String? { headers[.contentType].flatMap { MediaType.essence(of: $0) } }

    /// The charset label in `Content-Type` as the server wrote it, "Shift_JIS" for example; `nil` if missing or empty.
    /// Interpret it with ``Charset``.
    public var charsetLabel: String? {
        let label = headers[.contentType].flatMap { MediaType(parsing: $0) }?.parameters["charset"] ?? ""
        return label.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? nil : label
    }

    /// Decodes a body in memory as text, using the charset in `Content-Type` or else UTF-8; see ``Charset``.
    ///
    /// Like a browser, ignores the label of an unknown charset. Throws ``ErrandError/Code/decodingFailed`` for bytes that
    /// aren't valid in the charset, or that are in an unknown charset and aren't UTF-8.
    public func text() throws -> String {
        let label = charsetLabel ?? "utf-8"
        guard let charset = Charset(label: label) else {
            // A null character suggests wider units, such as those of UTF-32.
            if let text = Charset.utf8.decode(data), !text.utf8.contains(0) { return text }
            throw ErrandError(
                .decodingFailed, "the body's charset \(label.prefix(40).debugDescription) is unknown",
                response: self)
        }
        guard let text = charset.decode(data) else {
            let problem =
                charset.isAvailable
                ? "the body is not valid \(charset.name) text"
                : "this system can't decode the charset \(charset.name)"
            throw ErrandError(.decodingFailed, problem, response: self)
        }
        return text
    }

    /// Decodes a body in memory as JSON, using `decoder`, or else the decoder of the request or agent if that reads
    /// ``ContentTypes/json``. Throws ``ErrandError/Code/decodingFailed``.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self, decoder: JSONDecoder? = nil) throws -> Value {
        try decoded(as: type, by: decoder ?? jsonDecoder)
    }

    private var jsonDecoder: any BodyDecoder {
        guard let decoder, decoder.contentTypes == .json else { return Self.plainDecoder }
        return decoder
    }

    /// Decodes a value from a body in memory, using `decoder`, or else the decoder of the request or agent. Throws
    /// ``ErrandError/Code/decodingFailed``.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by decoder: (any BodyDecoder)? = nil
    ) throws -> Value {
        let decoder = decoder ?? self.decoder ?? Self.plainDecoder
        do { return try decoder.decode(type, from: data) } catch {
            let what =
                data.isEmpty
                ? "the body is empty"
                : encoded ?? otherCharset ?? (error as? DecodingError)?.summary(of: data) ?? error.briefDescription
            throw ErrandError(.decodingFailed, "expected \(type): \(what)", response: self, underlying: error)
        }
    }

    /// Explains to the caller that the body is still encoded, which decoders can't know. Transports remove decoded
    /// codings from the headers.
    private var encoded: String? {
        guard let coding = headers[.contentEncoding], !CodingNames.areNone(coding) else { return nil }
        return "the body is still compressed, with the content coding \(coding.prefix(40).debugDescription)"
    }

    /// Explains to the caller that the body is in a charset that decoders don't read: JSON has to be UTF-8.
    private var otherCharset: String? {
        guard let label = charsetLabel, let charset = Charset(label: label), !charset.name.hasPrefix("utf-"),
            String(validating: data, as: UTF8.self) == nil
        else { return nil }
        return "the body isn't UTF-8; its Content-Type specifies \(charset.name)"
    }

    private static let plainDecoder = JSONDecoder()

    /// The response without its stream and connection, which belong to their reader. For observers.
    package var withoutStream: HTTPResponse {
        let isStream = body.data == nil && body.file == nil
        guard isStream || connection != nil else { return self }
        var copy = self
        if isStream { copy.body = .empty }
        copy.connection = nil
        return copy
    }

    /// Returns the response with a body from the file it was written to, or with the collected bytes.
    package func delivered(to file: PendingFile?) -> HTTPResponse {
        guard let body = file?.body ?? body.collected else { return self }
        var copy = self
        copy.body = body
        return copy
    }

    /// The response with a body that is read from its beginning, if it is in a file.
    package var reopened: HTTPResponse {
        if body.file == nil { return self }
        var copy = self
        copy.body = body.reopened
        return copy
    }

    /// Returns the response with a copy of the body within an allowance, never with a stream.
    package func bounded(by allowance: BodyAllowance) async -> HTTPResponse {
        if let data = body.data, data.count <= allowance.bytes, body.reader == nil { return withoutStream }
        var copy = self
        copy.connection = nil
        copy.body = HTTPBody(await body.prefix(within: allowance))
        return copy
    }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The status and URL, with values masked as ``Redaction`` does by default. Contains no headers and no body.
    public var description: String { "\(status) \(Redaction.masked(fields.value.url.text))" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPResponse {
    /// Checks the body against the length in the head (RFC 9110, section 8.6). Throws `invalidResponse`, or `truncated`
    /// if the body is too short.
    package func checkFraming(of method: HTTPMethod) throws {
        let lengths = headers.values(of: .contentLength)
        if lengths.isEmpty { return }
        let hasNoBody = method == .head || status == 204 || status == 304
        if hasNoBody || headers.contains(.transferEncoding) { return }
        guard let length = ContentLength.parse(lengths) else {
            body.cancel()
            throw ErrandError(.invalidResponse, "the response's Content-Length isn't a number")
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

    // A single reference, because responses are copied from filter to filter.
    private let details: [Details]

    /// Creates a source, for a filter that responds itself.
    ///
    /// - Parameters:
    ///   - name: The filter's name, such as "cache".
    ///   - age: How long ago the response was stored; `nil`, the default, if it wasn't stored.
    ///   - reason: Why the response came from this source, for logs. Defaults to `nil`.
    public init(_ name: String, age: Duration? = nil, reason: String? = nil) {
        details = [Details(name: name, age: age, reason: reason)]
    }

    /// The response came from the server, through the transport.
    public static let network = ResponseSource("network")

    /// Returns the source of a response that a filter stored earlier.
    public static func stored(_ name: String = "cache", age: Duration, reason: String) -> ResponseSource {
        ResponseSource(name, age: age, reason: reason)
    }

    /// The source's name, such as "network" or "cache".
    public var name: String { details[0].name }
    /// How long ago the response was stored; `nil` if it wasn't stored.
    public var age: Duration? { details[0].age }
    /// Why the response came from this source, for logs. `nil` if there is nothing to explain.
    public var reason: String? { details[0].reason }
    /// Whether the response was stored before, for example by a cache.
    public var isStored: Bool { age != nil }

    /// The name, age and reason in one line.
    public var description: String {
        if age == nil, reason == nil { return name }
        let seconds = age.map { "\($0.bounded.components.seconds) s old" }
        return [name, seconds, reason].compactMap(\.self).joined(separator: ", ")
    }
}
