public import Errand
public import ErrandEssentials
public import ErrandHTTPFields
public import ErrandMessageSyntax

/// One part of a multipart response.
///
/// Its body is a stream that has to be read before the next part is requested; the unread rest is skipped then.
public struct ReceivedPart: Sendable {
    /// The part's own headers.
    public let headers: HTTPHeaders
    /// The part's bytes, as they arrive. Once the next part was requested, reading throws
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

    /// The name of the form's field, if there is one.
    public var name: String? { disposition?.parameters["name"].map(Self.unescaped) }

    /// The file name to save the part under, if there is one. As it was sent: it may contain slashes, `..` and control
    /// characters, so it is not a path until it has been made safe.
    public var fileName: String? {
        guard let disposition else { return nil }
        let isForm = disposition.type == "form-data"
        return disposition.fileName.map { isForm ? Self.unescaped($0) : $0 }
    }

    /// The part's media type; nil if it has none, which means `text/plain`.
    public var contentType: MediaType? { headers[.contentType].flatMap { MediaType(parsing: $0) } }

    /// The range of the whole that these bytes are, in a `multipart/byteranges`. The length of the body is checked
    /// against it.
    public var range: ContentRange? { headers[.contentRange].flatMap { ContentRange(parsing: $0) } }

    /// All bytes of the part, at most `limit` of them: a longer one throws ``Errand/ErrandError/Code/bodyTooLarge``.
    public func data(upTo limit: Int) async throws -> Data { try await body.collect(upTo: limit) }

    private var disposition: ContentDisposition? {
        headers[.contentDisposition].map { ContentDisposition(parsing: $0) }
    }

    /// Decodes the escapes of the HTML standard in the names of a form.
    private static func unescaped(_ text: String) -> String {
        text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }
}
