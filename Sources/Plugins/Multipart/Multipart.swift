public import ErrandHTTPSyntax

/// Several bodies in one, each with headers of its own: a form with files, or another multipart type (RFC 2046,
/// section 5.1).
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
/// A value, which any method may send any number of times. Files are looked at when a request is built and read while it is
/// sent; the length of the whole is announced whenever that of each part is known.
public struct Multipart: Sendable {
    /// The subtype: ``Subtype/formData`` by default.
    public var subtype: Subtype
    /// In the order in which they are sent.
    public var parts: [Part]
    /// What the `Content-Type` says beside the boundary, such as `type` of `multipart/related` (RFC 2387); empty by default.
    public var parameters: FieldParameters
    /// What separates the parts; nil, the default, for one of 128 random bits, made anew for each call.
    ///
    /// One that is given is looked for in every part, and a part that contains it fails the request with
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

    /// What follows `multipart/`: any token.
    public struct Subtype: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// In lower case.
        public let description: String

        /// A subtype of any name; it is checked when a request is built.
        public init(_ name: String) { description = name.lowercased() }
        /// A subtype of any name.
        public init(stringLiteral value: String) { self.init(value) }

        /// A form (RFC 7578).
        public static let formData: Self = "form-data"
        /// Parts that stand beside one another (RFC 2046, section 5.1.3).
        public static let mixed: Self = "mixed"
        /// The same in several formats (RFC 2046, section 5.1.4).
        public static let alternative: Self = "alternative"
        /// One document and what it refers to (RFC 2387).
        public static let related: Self = "related"
        /// Several ranges of one representation (RFC 9110, section 14.6).
        public static let byteRanges: Self = "byteranges"
    }
}
