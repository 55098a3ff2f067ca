public import ErrandEssentials
import ErrandSupport
import Synchronization

/// The body that a request sends: nothing, data, text, JSON, a form, a file, a stream, or one that is made of these
/// when it is built.
///
/// ```swift
/// var body: RequestBody { .json(NewUser(name: "Ada")) }
/// ```
///
/// Each body knows its type, its length if that is known, and whether it can be sent again. JSON is encoded when the
/// request is built; an encoding that fails throws ``ErrandError/Code/encodingFailed`` and nothing is sent.
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

    /// The body before its content coding, and the function that applies the coding to another one.
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
    /// Sent as `Content-Type` unless the headers have one.
    public var contentType: String? {
        get { fields.value.contentType }
        set { fields.value.contentType = newValue }
    }
    /// The number of bytes, where it is known; a body of unknown length is sent chunked.
    public var length: Int64? { fields.value.length }
    /// Whether a redirect or a retry may send the body once more; if not, they throw
    /// ``ErrandError/Code/bodyNotReplayable``.
    public var isReplayable: Bool { fields.value.isReplayable }

    /// No body.
    public static let none = RequestBody(.none, nil, length: 0)

    /// Bytes in memory.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.data(data), contentType, length: Int64(data.count))
    }

    /// The text as UTF-8, as it is.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> RequestBody {
        .data(Data(text.utf8), contentType: contentType)
    }

    /// The value as JSON, written by `encoder`, or by the agent's encoder if that is a `JSONEncoder`.
    public static func json(
        _ value: some Encodable & Sendable, encoder: JSONEncoder? = nil, contentType: String = "application/json"
    ) -> RequestBody {
        RequestBody(.deferred { try (encoder ?? $0 as? JSONEncoder ?? plainEncoder).encode(value) }, contentType)
    }

    /// The value in the format of `encoder`, or of the agent's encoder: JSON by default.
    public static func encoded(
        _ value: some Encodable & Sendable, encoder: (any BodyEncoder)? = nil, contentType: String? = nil
    ) -> RequestBody {
        RequestBody(.encodable({ try $0.encode(value) }, encoder), contentType)
    }

    /// `application/x-www-form-urlencoded`.
    public static func form(_ parameters: Parameters, encoding: ParameterEncoding = ParameterEncoding()) -> RequestBody
    {
        RequestBody(
            .deferred { _ in Data(try encoding.encode(parameters).utf8) }, "application/x-www-form-urlencoded")
    }

    /// `application/x-www-form-urlencoded`, from the properties of a value; see ``Parameters/init(encoding:encoder:)``.
    public static func form(
        _ value: some Encodable & Sendable, encoding: ParameterEncoding = ParameterEncoding()
    ) -> RequestBody {
        RequestBody(
            .deferred { encoder in
                let parameters = Parameters(encoding: value, encoder: encoder as? JSONEncoder)
                return Data(try encoding.encode(parameters).utf8)
            }, "application/x-www-form-urlencoded")
    }

    /// The file's bytes, read while they are sent. Anything but a regular file fails with
    /// ``ErrandError/Code/fileFailed`` before anything is sent.
    public static func file(_ url: URL, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.file(url), contentType)
    }

    /// The body in a content coding, such as gzip, for a filter that sets `Content-Encoding`. Filters further in find
    /// the plain body in ``uncoded``, and replace it with ``recoded(_:)``.
    ///
    /// ```swift
    /// let backwards = try RequestBody.data(data).coded { plain in
    ///     .data(Data((plain.data ?? Data()).reversed()), contentType: plain.contentType)
    /// }
    /// ```
    ///
    /// - Parameter encode: makes the coded form of a body, of this one now and of others later.
    public func coded(by encode: @escaping @Sendable (RequestBody) throws -> RequestBody) throws -> RequestBody {
        var body = try encode(self)
        body.fields.value.coding = Coding(self, encode)
        return body
    }

    /// The body before its content coding, where a filter has applied one with ``coded(by:)``; else nil.
    public var uncoded: RequestBody? { fields.value.coding?.plain }

    /// Another body in the content coding of this one; the other body itself where this one has none.
    public func recoded(_ other: RequestBody) throws -> RequestBody {
        guard let coding = fields.value.coding else { return other }
        return try other.coded(by: coding.encode)
    }

    /// Whether there is no body; a body of zero bytes is one.
    public var isNone: Bool { if case .none = storage { true } else { false } }

    /// The bytes, if they are in memory already.
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
    /// The bytes for one attempt, from the start. Throws if the body cannot be sent again, or cannot be read.
    ///
    /// A source that fails makes the request fail with ``ErrandError/Code/encodingFailed``, even if the source was
    /// cancelled or lost a connection of its own: neither happened to the request.
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

    /// Whether ``open(at:)`` can begin behind the first byte: for bytes in memory, files, and streams made by
    /// ``stream(length:contentType:openAt:)``. A body that is made when its request is built can, once it is made.
    public var opensAtOffset: Bool {
        switch storage {
        case .none, .data, .file, .seekable: true
        case .deferred, .encodable, .stream, .prepared: false
        }
    }

    /// The bytes for one attempt from an offset to the end, for a filter that resumes an upload.
    ///
    /// ```swift
    /// let rest = try RequestBody.text("Hello, world").open(at: 7)
    /// ```
    ///
    /// A body of which ``opensAtOffset`` is false can be read from its start only: any other offset throws
    /// ``ErrandError/Code/bodyNotReplayable``, and its upload has to start over. A negative offset, and one behind the
    /// end where the length is known, throw ``ErrandError/Code/invalidRequest``.
    public func open(at offset: Int64) throws -> HTTPBody {
        if offset == 0 { return try open() }
        guard offset > 0, offset <= length ?? .max else {
            let known = length.map { "\($0) bytes" } ?? "unknown length"
            throw ErrandError(.invalidRequest, "no byte \(offset) in a body of \(known)")
        }
        switch storage {
        case .none: return .empty
        case .data(let data): return HTTPBody(data.dropFirst(Int(offset)))
        case .file(let url): return HTTPBody(file: url, from: offset, length: length.map { $0 - offset })
        case .seekable(let open):
            return try UploadSource.guarding(length: length.map { $0 - offset }) { try open(offset) }
        case .deferred, .encodable, .stream, .prepared:
            throw ErrandError(.bodyNotReplayable, "this body can be read from its start only")
        }
    }

    /// Whether ``resolved(by:)`` returns the body as it is.
    package var isResolved: Bool {
        switch storage {
        case .none, .data, .stream, .seekable: true
        case .deferred, .encodable, .file, .prepared: false
        }
    }

    /// The same body with everything resolved that can be known before sending: JSON encoded, a file's length read.
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
    /// A stream that is opened anew for every attempt.
    public static func stream(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        open: @escaping @Sendable () throws -> HTTPBody
    ) -> RequestBody {
        RequestBody(.stream(open), contentType, length: length)
    }

    /// The chunks of a sequence, which is made anew for every attempt.
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
    ///   - length: the number of bytes of all chunks; nil, the default, where it is unknown: the body is then sent
    ///     chunked. Other numbers of bytes fail with ``ErrandError/Code/truncated`` or
    ///     ``ErrandError/Code/invalidResponse``.
    ///   - contentType: sent as `Content-Type`.
    ///   - sequence: makes the sequence. Its error fails the request with ``ErrandError/Code/encodingFailed``.
    public static func stream<Chunks: AsyncSequence>(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        of sequence: @escaping @Sendable () throws -> Chunks
    ) -> RequestBody where Chunks: Sendable, Chunks.Element == Data {
        RequestBody(
            .stream { HTTPBody(length: length, source: SequenceSource(try sequence())) }, contentType, length: length)
    }

    /// A stream that is opened anew for every attempt, at any of its bytes, so that a resumable upload sends only what
    /// the server lacks. The closure receives the offset of the first byte that it has to deliver, from 0 to `length`,
    /// and delivers the same bytes each time.
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

    /// A stream that can be sent once.
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

    /// A body that is made when its request is built, off the caller's actor, for a format whose length is known only
    /// then: one that encodes values by the agent's encoder, or that looks at files first. It is made once for a call,
    /// and every attempt sends the same body.
    ///
    /// ```swift
    /// let body = RequestBody.prepared { encoder in
    ///     .data(try encoder.encode([1, 2, 3]), contentType: encoder.contentType)
    /// }
    /// ```
    ///
    /// An error that is no ``ErrandError`` becomes the underlying one of ``ErrandError/Code/encodingFailed``; nothing
    /// is sent then.
    ///
    /// - Parameters:
    ///   - isReplayable: whether the body that is made can be sent again, as far as it is known in advance; true by
    ///     default.
    ///   - contentType: replaces that of the body that is made; nil, the default, keeps it.
    ///   - prepare: makes the body with the encoder of the agent, when the request is built.
    public static func prepared(
        isReplayable: Bool = true, contentType: String? = nil,
        by prepare: @escaping @Sendable (any BodyEncoder) throws -> RequestBody
    ) -> RequestBody {
        RequestBody(.prepared(prepare), contentType, isReplayable: isReplayable)
    }
}
