public import Errand
public import ErrandEssentials
public import ErrandHTTPFields
public import ErrandMessageSyntax

/// One part of a multipart response.
///
/// Read its body before you request the next part, which skips any unread bytes.
public struct ReceivedPart: Sendable {
    /// The part's own headers.
    public let headers: HTTPHeaders
    /// The part's bytes, as they arrive. Once you've requested the next part, reading throws
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

    /// The name of the form field, if any.
    public var name: String? { disposition?.parameters["name"].map(Self.unescaped) }

    /// The suggested file name, if any, as it was sent. It may contain slashes, `..` and control characters: make it
    /// safe before you use it as a path.
    public var fileName: String? {
        guard let disposition else { return nil }
        let isForm = disposition.type == "form-data"
        return disposition.fileName.map { isForm ? Self.unescaped($0) : $0 }
    }

    /// The part's media type, or `nil` if it isn't specified, which means `text/plain`.
    public var contentType: MediaType? { headers[.contentType].flatMap { MediaType(parsing: $0) } }

    /// The range of the whole that this part contains, in `multipart/byteranges`. The body's length is checked against
    /// it.
    public var range: ContentRange? { headers[.contentRange].flatMap { ContentRange(parsing: $0) } }

    /// Returns all bytes of the part. Throws ``Errand/ErrandError/Code/bodyTooLarge`` if there are more than `limit`.
    public func data(upTo limit: Int) async throws -> Data { try await body.collect(upTo: limit) }

    private var disposition: ContentDisposition? {
        headers[.contentDisposition].map { ContentDisposition(parsing: $0) }
    }

    /// Decodes the HTML standard's escapes in the names of a form.
    private static func unescaped(_ text: String) -> String {
        text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }
}
