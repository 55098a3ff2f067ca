public import ErrandEssentials
import ErrandSupport

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
