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

    /// Creates a response.
    public init(
        url: URL, status: Int, headers: HTTPHeaders = [:], body: HTTPBody = .empty, version: String? = nil,
        source: ResponseSource = .network
    ) {
        fields = CopyOnWrite(
            Fields(url: .given(url), status: status, headers: headers, body: body, version: version, source: source))
    }

    /// Creates a response with a request's URL.
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
    /// The connection of a response that switches protocols, for example to a WebSocket (RFC 9110, section 15.2.2). The
    /// connection first receives the bytes that the server sent after the head.
    ///
    /// If you take the connection, close it. Otherwise, the connection closes when the last copy of the response is
    /// released. A response with a connection is always accepted, whatever status the request expects.
    public var connection: (any ByteConnection)? {
        get { fields.value.connection }
        set { fields.value.connection = newValue }
    }
    /// The HTTP version, such as "1.1" or "2". `nil` if unknown.
    public var version: String? {
        get { fields.value.version }
        set { fields.value.version = newValue }
    }
    /// Where the response came from. Defaults to the network.
    public var source: ResponseSource {
        get { fields.value.source }
        set { fields.value.source = newValue }
    }
    /// The request's or the agent's decoder. Core sets it before checks and decoding.
    package var decoder: (any BodyDecoder)? {
        get { fields.value.decoder }
        set { fields.value.decoder = newValue }
    }

    /// The body's bytes in memory. Empty if the body is a stream.
    public var data: Data { body.data ?? Data() }

    /// The lowercase media type in `Content-Type` without parameters, such as "application/json". If the field contains
    /// several types, the last valid type counts (Fetch, "extract a MIME type").
    public var mediaType: String? { headers[.contentType].flatMap { MediaType.essence(of: $0) } }

    /// The charset label in `Content-Type` as the server wrote it, such as "Shift_JIS". `nil` if missing or empty.
    public var charsetLabel: String? {
        let label = headers[.contentType].flatMap { MediaType(parsing: $0) }?.parameters["charset"] ?? ""
        return label.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? nil : label
    }

    /// Decodes a body in memory as text. Uses the charset in `Content-Type`. Without a charset, or with an unknown
    /// charset, uses UTF-8. See ``Charset``.
    ///
    /// Throws ``ErrandError/Code/decodingFailed`` if the bytes aren't valid in that charset.
    public func text() throws -> String {
        let label = charsetLabel ?? "utf-8"
        guard let charset = Charset(label: label) else {
            // A null character suggests a charset with wider units, such as UTF-32.
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

    /// Decodes a body in memory as JSON. Defaults to the decoder of the request or agent, if that decoder reads
    /// ``ContentTypes/json``. Throws ``ErrandError/Code/decodingFailed`` if the body can't be decoded.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self, decoder: JSONDecoder? = nil) throws -> Value {
        try decoded(as: type, by: decoder ?? jsonDecoder)
    }

    private var jsonDecoder: any BodyDecoder {
        guard let decoder, decoder.contentTypes == .json else { return Self.plainDecoder }
        return decoder
    }

    /// Decodes a value from a body in memory. Uses `decoder`, or else the decoder of the request or agent. Throws
    /// ``ErrandError/Code/decodingFailed`` if the body can't be decoded.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by decoder: (any BodyDecoder)? = nil
    ) throws -> Value {
        let decoder = decoder ?? self.decoder ?? Self.plainDecoder
        do { return try decoder.decode(type, from: data) } catch {
            let what =
                data.isEmpty
                ? "the body is empty"
                : encoded ?? otherCharset ?? (decoder.contentTypes == .json ? markup : nil)
                    ?? (error as? DecodingError)?.summary(of: data) ?? error.briefDescription
            throw ErrandError(.decodingFailed, "expected \(type): \(what)", response: self, underlying: error)
        }
    }

    private var encoded: String? {
        guard let coding = headers[.contentEncoding], !CodingNames.areNone(coding) else { return nil }
        return "the body is still compressed, with the content coding \(coding.prefix(40).debugDescription)"
    }

    /// Explains the failure if the body is a page instead of JSON. Nil for other bodies.
    private var markup: String? {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let start = data.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard data.dropFirst(start).first(where: { !isBlank($0) }) == UInt8(ascii: "<") else { return nil }
        let type = headers[.contentType].map { "Content-Type \($0.prefix(80).debugDescription)" } ?? "no Content-Type"
        return
            "the body isn't JSON, but HTML or XML (status \(status), \(type)); a gateway or a sign-in page may have answered"
    }

    /// Explains the failure if the body isn't UTF-8, which JSON requires. Nil for other bodies.
    private var otherCharset: String? {
        guard let label = charsetLabel, let charset = Charset(label: label), !charset.name.hasPrefix("utf-"),
            String(validating: data, as: UTF8.self) == nil
        else { return nil }
        return "the body isn't UTF-8; its Content-Type specifies \(charset.name)"
    }

    private static let plainDecoder = JSONDecoder()

    /// A copy without a stream or a connection, which belong to their reader.
    package var withoutStream: HTTPResponse {
        let isStream = body.data == nil && body.file == nil
        guard isStream || connection != nil else { return self }
        var copy = self
        if isStream { copy.body = .empty }
        copy.connection = nil
        return copy
    }

    package func delivered(to file: PendingFile?) -> HTTPResponse {
        guard let body = file?.body ?? body.collected else { return self }
        var copy = self
        copy.body = body
        return copy
    }

    package var reopened: HTTPResponse {
        if body.file == nil { return self }
        var copy = self
        copy.body = body.reopened
        return copy
    }

    package func bounded(by allowance: BodyAllowance) async -> HTTPResponse {
        if let data = body.data, data.count <= allowance.bytes, body.reader == nil { return withoutStream }
        var copy = self
        copy.connection = nil
        copy.body = HTTPBody(await body.prefix(within: allowance))
        return copy
    }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The status and URL, with secrets masked.
    public var description: String { "\(status) \(Redaction.masked(fields.value.url.text))" }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPResponse {
    /// Checks the body's length against `Content-Length` (RFC 9110, section 8.6). A stream checks its own length while
    /// it's read.
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

    // An array of one element, because each filter copies the response.
    private let details: [Details]

    /// Creates a source. Use it in a filter that responds itself.
    ///
    /// - Parameters:
    ///   - name: The filter's name, such as "cache".
    ///   - age: How long ago the response was stored. Defaults to `nil`, not stored.
    ///   - reason: Why the response came from this source, for logs. Defaults to `nil`.
    public init(_ name: String, age: Duration? = nil, reason: String? = nil) {
        details = [Details(name: name, age: age, reason: reason)]
    }

    /// The server, through the transport.
    public static let network = ResponseSource("network")

    /// Returns the source of a response that a filter stored earlier.
    public static func stored(_ name: String = "cache", age: Duration, reason: String) -> ResponseSource {
        ResponseSource(name, age: age, reason: reason)
    }

    /// The source's name, such as "network" or "cache".
    public var name: String { details[0].name }
    /// How long ago the response was stored. `nil` if it wasn't stored.
    public var age: Duration? { details[0].age }
    /// Why the response came from this source, for logs.
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
