public import ErrandEssentials
import ErrandSupport
import Synchronization

/// A request's body: data, text, JSON, a form, a file, a stream, or none.
///
/// ```swift
/// var body: RequestBody { .json(NewUser(name: "Ada")) }
/// ```
///
/// A body knows its content type, its length if available, and whether it can be sent again. A JSON body is encoded
/// when the request is built. If encoding fails, the request throws ``ErrandError/Code/encodingFailed`` and isn't sent.
public struct RequestBody: Sendable {
    enum Storage: Sendable {
        case none
        case data(Data)
        case deferred(@Sendable (any BodyEncoder) throws -> Data)
        case encodable(@Sendable (any BodyEncoder) throws -> Data, (any BodyEncoder)?)
        case file(URL)
        case stream(@Sendable () throws -> HTTPBody)
        case seekable(@Sendable (Int64) throws -> HTTPBody)
        case prepared(@Sendable (any BodyEncoder) throws -> RequestBody)
    }

    struct Fields {
        let storage: Storage
        var contentType: String?
        var length: Int64?
        var isReplayable = true
        var coding: Coding?
    }

    /// A content coding's original body, and the function that applies it to other bodies.
    final class Coding: Sendable {
        let plain: RequestBody
        let encode: @Sendable (RequestBody) throws -> RequestBody

        init(_ plain: RequestBody, _ encode: @escaping @Sendable (RequestBody) throws -> RequestBody) {
            (self.plain, self.encode) = (plain, encode)
        }
    }

    var fields: CopyOnWrite<Fields>

    init(_ storage: Storage, _ contentType: String?, length: Int64? = nil, isReplayable: Bool = true) {
        fields = CopyOnWrite(
            Fields(storage: storage, contentType: contentType, length: length, isReplayable: isReplayable))
    }

    var storage: Storage { fields.value.storage }
    /// The `Content-Type` to send, unless the headers contain one. With `nil`, the body doesn't add a `Content-Type`.
    public var contentType: String? {
        get { fields.value.contentType }
        set { fields.value.contentType = newValue }
    }
    /// The number of bytes, or `nil` if unknown. A body of unknown length is sent in chunks.
    public var length: Int64? { fields.value.length }
    /// Whether a redirect or a retry can send the body again. If not, the repeated request throws
    /// ``ErrandError/Code/bodyNotReplayable``.
    public var isReplayable: Bool { fields.value.isReplayable }

    /// No body.
    public static let none = RequestBody(.none, nil, length: 0)

    /// Returns a body of bytes in memory.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.data(data), contentType, length: Int64(data.count))
    }

    /// Returns a body of UTF-8 text.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> RequestBody {
        .data(Data(text.utf8), contentType: contentType)
    }

    /// Returns a body that contains a value as JSON. Defaults to the agent's encoder if that is a `JSONEncoder`.
    public static func json(
        _ value: some Encodable & Sendable, encoder: JSONEncoder? = nil, contentType: String = "application/json"
    ) -> RequestBody {
        RequestBody(.deferred { try (encoder ?? $0 as? JSONEncoder ?? plainEncoder).encode(value) }, contentType)
    }

    /// Explains at compile time why a dictionary of different types can't be sent.
    @available(
        *, unavailable,
        message: """
            the values have different types: declare an 'Encodable' structure, or give the request 'parameters' and the \
            'parameterPlacement' '.json'
            """
    )
    public static func json(
        _ value: [String: Any], encoder: JSONEncoder? = nil, contentType: String = "application/json"
    ) -> RequestBody { .none }

    /// Returns a body that contains a value in an encoder's format. Defaults to the agent's encoder, which writes JSON
    /// unless you change it.
    public static func encoded(
        _ value: some Encodable & Sendable, encoder: (any BodyEncoder)? = nil, contentType: String? = nil
    ) -> RequestBody {
        RequestBody(.encodable({ try $0.encode(value) }, encoder), contentType)
    }

    /// Returns a form body of parameters as `application/x-www-form-urlencoded`.
    public static func form(_ parameters: Parameters, encoding: ParameterEncoding = ParameterEncoding()) -> RequestBody
    {
        RequestBody(
            .deferred { _ in Data(try encoding.encode(parameters).utf8) }, "application/x-www-form-urlencoded")
    }

    /// Returns a form body of a value's properties. See ``Parameters/init(encoding:encoder:)``.
    public static func form(
        _ value: some Encodable & Sendable, encoding: ParameterEncoding = ParameterEncoding()
    ) -> RequestBody {
        RequestBody(
            .deferred { encoder in
                let parameters = Parameters(encoding: value, encoder: encoder as? JSONEncoder)
                return Data(try encoding.encode(parameters).utf8)
            }, "application/x-www-form-urlencoded")
    }

    /// Returns a body that is read from a regular file while it's sent. If the URL is anything else, the request throws
    /// ``ErrandError/Code/fileFailed`` and isn't sent.
    public static func file(_ url: URL, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.file(url), contentType)
    }

    /// Returns this body with a content coding such as gzip. Use it in a filter that sets `Content-Encoding`. Later
    /// filters can get the plain body from ``uncoded``, and replace it with ``recoded(_:)``.
    ///
    /// ```swift
    /// let backwards = try RequestBody.data(data).coded { plain in
    ///     .data(Data((plain.data ?? Data()).reversed()), contentType: plain.contentType)
    /// }
    /// ```
    ///
    /// - Parameter encode: Encodes this body now, and possibly other bodies later.
    public func coded(by encode: @escaping @Sendable (RequestBody) throws -> RequestBody) throws -> RequestBody {
        var body = try encode(self)
        body.fields.value.coding = Coding(self, encode)
        return body
    }

    /// The body before ``coded(by:)`` applied a content coding. `nil` for other bodies.
    public var uncoded: RequestBody? { fields.value.coding?.plain }

    /// Returns another body with this body's content coding. If this body has no content coding, returns the other body
    /// unchanged.
    public func recoded(_ other: RequestBody) throws -> RequestBody {
        guard let coding = fields.value.coding else { return other }
        return try other.coded(by: coding.encode)
    }

    /// Whether this is ``none``. False for a body of zero bytes.
    public var isNone: Bool { if case .none = storage { true } else { false } }

    /// The bytes, or `nil` if they aren't in memory, as with a file or a stream. Empty for ``none``.
    public var data: Data? {
        switch storage {
        case .none: Data()
        case .data(let data): data
        case .deferred, .encodable, .file, .stream, .seekable, .prepared: nil
        }
    }

    static let plainEncoder = JSONEncoder()
}

extension RequestBody {
    /// Opens the body to send it once. Call it in a transport. Throws if the body can't be sent again or can't be read.
    ///
    /// If the body's source fails or is cancelled while the body is read, the request fails with
    /// ``ErrandError/Code/encodingFailed``.
    public func open() throws -> HTTPBody {
        switch storage {
        case .none: .empty
        case .data(let data): HTTPBody(data)
        case .deferred, .encodable, .prepared: try resolved(by: Self.plainEncoder).open()
        case .file(let url): HTTPBody(file: url, length: length)
        case .stream(let open): try UploadSource.guarding(length: length, open)
        case .seekable(let open): try UploadSource.guarding(length: length) { try open(0) }
        }
    }

    /// Whether ``open(at:)`` accepts offsets other than 0. True for bytes in memory, files, and streams from
    /// ``stream(length:contentType:openAt:)``. For other bodies, it can become true when the request is built.
    public var opensAtOffset: Bool {
        switch storage {
        case .none, .data, .file, .seekable: true
        case .deferred, .encodable, .stream, .prepared: false
        }
    }

    /// Opens the body at an offset. Call it in a filter that resumes an upload.
    ///
    /// ```swift
    /// let rest = try RequestBody.text("Hello, world").open(at: 7)
    /// ```
    ///
    /// If ``opensAtOffset`` is false, any offset but 0 throws ``ErrandError/Code/bodyNotReplayable``, and the upload
    /// has to start over. An offset outside the body throws ``ErrandError/Code/invalidRequest``.
    public func open(at offset: Int64) throws -> HTTPBody {
        if offset == 0 { return try open() }
        guard offset > 0, offset <= length ?? .max else {
            let known = length.map { "\($0) bytes" } ?? "unknown length"
            throw ErrandError(.invalidRequest, "the offset \(offset) is outside of the body (\(known))")
        }
        switch storage {
        case .none: return .empty
        case .data(let data): return HTTPBody(data.dropFirst(Int(offset)))
        case .file(let url): return HTTPBody(file: url, from: offset, length: length.map { $0 - offset })
        case .seekable(let open):
            return try UploadSource.guarding(length: length.map { $0 - offset }) { try open(offset) }
        case .deferred, .encodable, .stream, .prepared:
            throw ErrandError(.bodyNotReplayable, "this body can only be read from the start, not from byte \(offset)")
        }
    }

    package var isResolved: Bool {
        switch storage {
        case .none, .data, .stream, .seekable: true
        case .deferred, .encodable, .file, .prepared: false
        }
    }

    package func resolved(by encoder: any BodyEncoder) throws -> RequestBody {
        switch storage {
        case .none, .data, .stream, .seekable: return self
        case .deferred(let encode): return try .data(Self.encoding { try encode(encoder) }, contentType: contentType)
        case .encodable(let encode, let own):
            let encoder = own ?? encoder
            let data = try Self.encoding { try encode(encoder) }
            return .data(data, contentType: contentType ?? encoder.contentType)
        case .file(let url):
            var result = self
            result.fields.value.length = try ErrandError.naming(.fileFailed) { try SystemFile.size(of: url.path) }
            return result
        case .prepared(let prepare):
            var result = try Self.encoding { try prepare(encoder) }.resolved(by: encoder)
            if let contentType { result.contentType = contentType }
            return result
        }
    }

    private static func encoding<Made>(_ encode: () throws -> Made) throws -> Made {
        do { return try encode() } catch let error as ErrandError { throw error } catch {
            let cause = (error as? EncodingError)?.summary ?? error.briefDescription
            throw ErrandError(.encodingFailed, "the body could not be encoded: \(cause)", underlying: error)
        }
    }
}

extension RequestBody {
    /// Returns a streamed body. Each attempt calls the closure to open the body again.
    public static func stream(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        open: @escaping @Sendable () throws -> HTTPBody
    ) -> RequestBody {
        RequestBody(.stream(open), contentType, length: length)
    }

    /// Returns a streamed body from a sequence of chunks. Each attempt creates the sequence again.
    ///
    /// ```swift
    /// let lines = ["one", "two"]
    /// let body = RequestBody.stream {
    ///     AsyncStream<Data> { chunks in
    ///         for line in lines { chunks.yield(Data(line.utf8)) }
    ///         chunks.finish()
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - length: The number of bytes in all chunks. Defaults to `nil`, which sends the body chunked. If the chunks
    ///     have fewer bytes, the request fails with ``ErrandError/Code/truncated``. If they have more, it fails with
    ///     ``ErrandError/Code/invalidResponse``.
    ///   - contentType: The `Content-Type` to send.
    ///   - sequence: Creates the sequence. If the sequence throws, the request fails with
    ///     ``ErrandError/Code/encodingFailed``.
    public static func stream<Chunks: AsyncSequence>(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        of sequence: @escaping @Sendable () throws -> Chunks
    ) -> RequestBody where Chunks: Sendable, Chunks.Element == Data {
        RequestBody(
            .stream { HTTPBody(length: length, source: SequenceSource(try sequence())) }, contentType, length: length)
    }

    /// Returns a streamed body that can be opened at any offset, so a resumable upload sends only the missing bytes.
    /// The closure receives the offset of the first byte to deliver. For the same offset, the closure must deliver the
    /// same bytes each time.
    ///
    /// ```swift
    /// let body = RequestBody.stream(length: Int64(data.count)) { offset in HTTPBody(data.dropFirst(Int(offset))) }
    /// ```
    public static func stream(
        length: Int64, contentType: String? = "application/octet-stream",
        openAt: @escaping @Sendable (_ offset: Int64) throws -> HTTPBody
    ) -> RequestBody {
        RequestBody(.seekable(openAt), contentType, length: length)
    }

    /// Returns a streamed body that can be read only once, so retries and redirects can't repeat it.
    public static func stream(_ body: HTTPBody, contentType: String? = "application/octet-stream") -> RequestBody {
        let wasSent = Atomic(false)
        return RequestBody(
            .stream {
                if wasSent.exchange(true, ordering: .acquiringAndReleasing) {
                    throw ErrandError(.bodyNotReplayable, "this stream was sent before and can be read only once")
                }
                return body
            }, contentType, length: body.length, isReplayable: false)
    }

    /// Returns a body that a closure creates once per call, when the request is built, off the caller's actor. Use it
    /// for formats that need the agent's encoder or inspect files.
    ///
    /// ```swift
    /// let body = RequestBody.prepared { encoder in
    ///     .data(try encoder.encode([1, 2, 3]), contentType: encoder.contentType)
    /// }
    /// ```
    ///
    /// If the closure throws, the request isn't sent. An error other than ``ErrandError`` becomes the underlying error
    /// of ``ErrandError/Code/encodingFailed``.
    ///
    /// - Parameters:
    ///   - isReplayable: Whether the created body can be sent again. Defaults to true.
    ///   - contentType: Replaces the created body's content type. Defaults to `nil`.
    ///   - prepare: Creates the body. Receives the agent's encoder.
    public static func prepared(
        isReplayable: Bool = true, contentType: String? = nil,
        by prepare: @escaping @Sendable (any BodyEncoder) throws -> RequestBody
    ) -> RequestBody {
        RequestBody(.prepared(prepare), contentType, isReplayable: isReplayable)
    }
}
