// Start here: `body: .multipart(…)` sends parts, `response.parts()` reads them.
//
// Sending/  the body: files, lengths, boundaries
// Reading/  the parser, and parts as they arrive

public import ErrandMessageSyntax

/// A body that consists of several, each with headers of its own: a form with files, or another multipart type (RFC
/// 2046, section 5.1).
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
/// It is a value, which any method may send any number of times. Files are checked when a request is built and read
/// while it is sent; the length of the whole is announced whenever that of each part is known.
public struct Multipart: Sendable {
    /// The subtype: ``Subtype/formData`` by default.
    public var subtype: Subtype
    /// The parts in the order in which they are sent.
    public var parts: [Part]
    /// Parameters of the `Content-Type` beside the boundary, such as `type` of `multipart/related` (RFC 2387); none by
    /// default.
    public var parameters: FieldParameters
    /// The separator of the parts; nil, the default, for one of 128 random bits, made anew for each call.
    ///
    /// Every part is searched for a given boundary, and a part that contains it makes the request fail with
    /// ``MultipartError/Code/boundaryInPart``.
    public var boundary: String?

    /// Makes a body of parts.
    public init(
        _ subtype: Subtype = .formData, parameters: FieldParameters = FieldParameters(), boundary: String? = nil,
        parts: [Part]
    ) {
        (self.subtype, self.parameters, self.boundary) = (subtype, parameters, boundary)
        self.parts = parts
    }

    /// A subtype of `multipart/`: any token.
    public struct Subtype: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// In lower case.
        public let description: String

        /// Makes a subtype of any name; it is checked when a request is built.
        public init(_ name: String) { description = name.lowercased() }
        /// Makes a subtype of any name.
        public init(stringLiteral value: String) { self.init(value) }

        /// A form (RFC 7578).
        public static let formData: Self = "form-data"
        /// Independent parts (RFC 2046, section 5.1.3).
        public static let mixed: Self = "mixed"
        /// The same content in several formats (RFC 2046, section 5.1.4).
        public static let alternative: Self = "alternative"
        /// One document and the parts that it refers to (RFC 2387).
        public static let related: Self = "related"
        /// Several ranges of one representation (RFC 9110, section 14.6).
        public static let byteRanges: Self = "byteranges"
    }
}
