// Start here: `body: .multipart(…)` sends parts, `response.parts()` reads them.
//
// Sending/  the body: files, lengths, boundaries
// Reading/  the parser, and parts as they arrive

public import ErrandMessageSyntax

/// A request body that consists of several parts, each with its own headers (RFC 2046, section 5.1). By default, it's a
/// form with fields and files.
///
/// ```swift
/// struct UploadPhoto: Request {
///     typealias Output = Void
///     let photo: URL
///
///     var method: HTTPMethod { .post }
///     var path: String { "photos" }
///     var body: RequestBody {
///         .multipart(.field("title", "A day at the sea"), .file(photo, name: "photo"))
///     }
/// }
/// ```
///
/// You can use the body with any method, and for any number of requests. Errand checks files when it builds a request
/// and reads them while it sends the request. The request has a `Content-Length` if the length of every part is known.
public struct Multipart: Sendable {
    /// The multipart type's subtype. Defaults to ``Subtype/formData``.
    public var subtype: Subtype
    /// The parts, in the order in which they are sent.
    public var parts: [Part]
    /// Parameters of the `Content-Type` in addition to the boundary, such as `type` for `multipart/related` (RFC 2387).
    /// Default: no parameters.
    public var parameters: FieldParameters
    /// The separator between parts. Defaults to `nil`, which creates a random 128-bit boundary for each call.
    ///
    /// If you set a boundary and a part contains it, the request fails with ``MultipartError/Code/boundaryInPart``.
    public var boundary: String?

    /// Creates a body from parts. Their files, names and headers are checked later, when a request is built, which can
    /// throw ``MultipartError``.
    public init(
        _ subtype: Subtype = .formData, parameters: FieldParameters = FieldParameters(), boundary: String? = nil,
        parts: [Part]
    ) {
        (self.subtype, self.parameters, self.boundary) = (subtype, parameters, boundary)
        self.parts = parts
    }

    /// The subtype of a multipart type, such as "form-data" in `multipart/form-data`.
    public struct Subtype: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The subtype's name, in lower case.
        public let description: String

        /// Creates a subtype from a name, which is checked when a request is built.
        public init(_ name: String) { description = name.lowercased() }
        /// Creates a subtype from a name, which is checked when a request is built.
        public init(stringLiteral value: String) { self.init(value) }

        /// A form with fields and files (RFC 7578).
        public static let formData: Self = "form-data"
        /// Independent parts (RFC 2046, section 5.1.3).
        public static let mixed: Self = "mixed"
        /// The same content in several formats (RFC 2046, section 5.1.4).
        public static let alternative: Self = "alternative"
        /// A document and the parts that it refers to (RFC 2387).
        public static let related: Self = "related"
        /// Several ranges of one file (RFC 9110, section 14.6).
        public static let byteRanges: Self = "byteranges"
    }
}
