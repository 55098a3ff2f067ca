public import Errand
public import ErrandEssentials
public import ErrandHTTPFields
public import ErrandMessageSyntax

/// The parts of a multipart response, delivered as they arrive.
///
/// ```swift
/// let parts = try await agent.send(Call<ReceivedParts>(.get, "album")).value
/// for try await part in parts {
///     print(part.fileName ?? "", try await part.data(upTo: 1 << 20).count)
/// }
/// ```
///
/// Only one reader can read the parts. Memory use is low, even for large parts. Releasing the iterator cancels the
/// transfer. A malformed body throws ``MultipartError``.
public struct ReceivedParts: AsyncSequence, Sendable {
    /// A part of the response.
    public typealias Element = ReceivedPart
    /// ``MultipartError``, or the body's error.
    public typealias Failure = any Error

    private let feed: PartFeed

    /// Creates a sequence of a body's parts. Throws ``MultipartError/Code/notMultipart`` unless `contentType` is a
    /// multipart type with a boundary.
    ///
    /// - Parameter contentType: the message's media type.
    public init(_ body: HTTPBody, contentType: String?, limits: MultipartLimits = MultipartLimits()) throws {
        let type = contentType.flatMap { MediaType(parsing: $0) }
        guard let type, type.type == "multipart" else {
            body.cancel()
            throw MultipartError(.notMultipart, "the body is of the type \(type?.essence ?? "unknown"), not multipart")
        }
        guard let boundary = type.parameters["boundary"], (1...200).contains(boundary.utf8.count),
            !boundary.utf8.contains(where: { $0 < 0x20 })
        else {
            body.cancel()
            throw MultipartError(.notMultipart, "the type \(type.essence) has no boundary")
        }
        feed = PartFeed(body, boundary: boundary, limits: limits)
    }

    /// Creates an iterator over the parts. Only the first iterator reads the parts. All further iterators throw
    /// ``Errand/ErrandError/Code/bodyAlreadyRead``.
    public func makeAsyncIterator() -> Iterator { Iterator(feed: feed, isFirst: feed.claim()) }

    /// Reads one part after another, on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol {
        let feed: PartFeed
        let isFirst: Bool

        /// Returns the next part, or `nil` after the last part. Skips unread bytes of the previous part.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ReceivedPart? {
            guard isFirst else { throw ErrandError(.bodyAlreadyRead, "a response's parts can have only one reader") }
            return try await feed.nextPart().map { ReceivedPart($0.0, feed: feed, number: $0.1) }
        }
    }
}

/// One part of a multipart response.
///
/// Read the part's body before you request the next part, because that skips unread bytes.
public struct ReceivedPart: Sendable {
    /// The part's own headers.
    public let headers: HTTPHeaders
    /// The part's bytes, as they arrive. After you've requested the next part, reading throws
    /// ``MultipartError/Code/partPassed``.
    public let body: HTTPBody

    init(_ headers: HTTPHeaders, feed: PartFeed, number: Int) {
        self.headers = headers
        var length: Int64?
        if case .part(let first, let last, _)? = headers[.contentRange].flatMap({ ContentRange(parsing: $0) }) {
            length = last - first + 1
        }
        body = HTTPBody(length: length, source: PartBody(feed, number))
    }

    /// The name of the form field, if the part has one.
    public var name: String? { disposition?.parameters["name"].map(Self.unescaped) }

    /// The suggested file name, if any, as it was sent. It may contain slashes, `..` and control characters. Make it
    /// safe before you use it as a path.
    public var fileName: String? {
        guard let disposition else { return nil }
        let isForm = disposition.type == "form-data"
        return disposition.fileName.map { isForm ? Self.unescaped($0) : $0 }
    }

    /// The part's media type, or `nil` if it isn't specified, which means `text/plain`.
    public var contentType: MediaType? { headers[.contentType].flatMap { MediaType(parsing: $0) } }

    /// In `multipart/byteranges`, the range of the file that this part contains. Reading ``body`` throws if its length
    /// doesn't match the range.
    public var range: ContentRange? { headers[.contentRange].flatMap { ContentRange(parsing: $0) } }

    /// Returns all bytes of the part. Throws ``Errand/ErrandError/Code/bodyTooLarge`` if there are more than `limit`.
    public func data(upTo limit: Int) async throws -> Data { try await body.collect(upTo: limit) }

    private var disposition: ContentDisposition? {
        headers[.contentDisposition].map { ContentDisposition(parsing: $0) }
    }

    /// The escapes of the HTML standard.
    private static func unescaped(_ text: String) -> String {
        text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }
}

extension HTTPResponse {
    /// Returns the parts of a multipart response, such as several ranges of a file.
    ///
    /// ```swift
    /// let call = Call<HTTPResponse>(.get, "film.mp4") {
    ///     $0.headers["Range"] = "bytes=0-99,1000-1099"
    ///     $0.delivery = .stream
    /// }
    /// for try await part in try await agent.send(call).value.parts() { print(part.range ?? "", part.headers) }
    /// ```
    ///
    /// Throws ``MultipartError/Code/notMultipart`` if the response has another type. For example, a server may return a
    /// single range or the whole file.
    public func parts(limits: MultipartLimits = MultipartLimits()) throws -> ReceivedParts {
        try ReceivedParts(body, contentType: headers[.contentType], limits: limits)
    }
}

extension Request where Output == ReceivedParts {
    /// Returns `.stream`.
    public var delivery: BodyDelivery { .stream }
    /// Returns `multipart/*`.
    public var acceptableContentTypes: ContentTypes { ["multipart/*"] }
    /// Returns the parts, within the default ``MultipartLimits``.
    public func decode(_ response: HTTPResponse) async throws -> Output { try response.parts() }
}

extension Call where Output == ReceivedParts {
    /// Creates a call that returns the parts of a multipart response.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        limits: MultipartLimits = MultipartLimits(), configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, decode: { try $0.parts(limits: limits) }) { call in
            call.delivery = .stream
            call.acceptableContentTypes = ["multipart/*"]
            configure(&call)
        }
    }
}

/// Limits for reading a multipart body. If a body exceeds them, reading throws ``MultipartError/Code/limitExceeded``.
/// The limits don't apply to the content of a part, because your code decides how many bytes of a part to accept.
///
/// ```swift
/// let parts = try response.parts(limits: MultipartLimits(maximumParts: 100))
/// ```
public struct MultipartLimits: Sendable, Hashable {
    /// The maximum number of parts. Defaults to 10,000.
    public var maximumParts: Int
    /// The maximum size of a part's headers in bytes. Defaults to 16 KiB.
    public var maximumHeaderBytes: Int
    /// The maximum number of bytes before the first part. Defaults to 64 KiB.
    public var maximumPreambleBytes: Int

    /// Creates limits. By default, 10,000 parts, 16 KiB of headers in each, and 64 KiB before the first part.
    public init(maximumParts: Int = 10_000, maximumHeaderBytes: Int = 16 << 10, maximumPreambleBytes: Int = 64 << 10) {
        (self.maximumParts, self.maximumHeaderBytes, self.maximumPreambleBytes) = (
            maximumParts, maximumHeaderBytes, maximumPreambleBytes
        )
    }
}
