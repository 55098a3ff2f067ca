public import Errand
public import ErrandEssentials
import ErrandMessageSyntax

extension Multipart {
    /// One part of a multipart body, with its own headers.
    ///
    /// ```swift
    /// let parts: [Multipart.Part] = [
    ///     .field("title", "A day at the sea"), .json(["x": 1], name: "position"),
    ///     .data(thumbnail, name: "thumbnail", fileName: "t.png"), .file(photo, name: "photo"),
    /// ]
    /// ```
    ///
    /// In a form, the header escapes line breaks and quotes in names and file names. Other control characters, except
    /// tabs, make the request fail.
    public struct Part: Sendable {
        enum Content: Sendable {
            case data(Data)
            case encoded(@Sendable (any BodyEncoder) throws -> Data, (any BodyEncoder)?)
            case file(URL)
            case stream(length: Int64?, isReplayable: Bool, open: @Sendable () throws -> HTTPBody)
        }

        /// The name of the form field. Required in a form, otherwise optional.
        public var name: String?
        /// The file name to suggest to the receiver, or `nil` to omit it.
        public var fileName: String?
        /// The part's `Content-Type`, or `nil` to omit it.
        public var contentType: String?
        /// Header fields to add to the part. A `Content-Disposition` or `Content-Type` here replaces the generated
        /// field. Empty by default.
        public var headers: HTTPHeaders = [:]
        let content: Content

        private init(_ content: Content, name: String?, fileName: String?, contentType: String?) {
            (self.content, self.name, self.fileName) = (content, name, fileName)
            self.contentType = contentType
        }

        /// Returns a copy of the part with additional headers.
        public func with(_ headers: HTTPHeaders) -> Part {
            var copy = self
            copy.headers.merge(headers)
            return copy
        }
    }
}

extension Multipart.Part {
    /// Creates a form field with text. As in browsers, the text is sent as UTF-8, without a `Content-Type`.
    public static func field(_ name: String, _ value: String) -> Self {
        Self(.data(Data(value.utf8)), name: name, fileName: nil, contentType: nil)
    }

    /// Creates a form field with a number or Boolean, written as text. A number is written without an exponent.
    public static func field(_ name: String, _ value: some LosslessStringConvertible) -> Self {
        let text = String(value)
        return field(name, value is any FloatingPoint ? ASCII.withoutExponent(text) : text)
    }

    /// Creates a part from bytes in memory.
    ///
    /// - Parameters:
    ///   - name: the field's name. Defaults to `nil`.
    ///   - fileName: the file's name. Defaults to `nil`.
    ///   - contentType: the media type. Default: by the extension of `fileName`, otherwise `application/octet-stream`.
    public static func data(
        _ data: Data, name: String? = nil, fileName: String? = nil, contentType: String? = nil
    ) -> Self {
        Self(
            .data(data), name: name, fileName: fileName,
            contentType: contentType ?? FileTypes.contentType(of: fileName ?? ""))
    }

    /// Creates a part with a value encoded as JSON. Uses `encoder`, or by default the agent's encoder, if that is a
    /// `JSONEncoder`. The value is encoded when the request is built.
    public static func json(
        _ value: some Encodable & Sendable, name: String? = nil, fileName: String? = nil, encoder: JSONEncoder? = nil
    ) -> Self {
        let encode: @Sendable (any BodyEncoder) throws -> Data = {
            try (encoder ?? $0 as? JSONEncoder ?? JSONEncoder()).encode(value)
        }
        return Self(.encoded(encode, nil), name: name, fileName: fileName, contentType: "application/json")
    }

    /// Unavailable: values of different types need an `Encodable` type.
    @available(*, unavailable, message: "the values have different types: declare an 'Encodable' structure")
    public static func json(
        _ value: [String: Any], name: String? = nil, fileName: String? = nil, encoder: JSONEncoder? = nil
    ) -> Self { .data(Data()) }

    /// Creates a part with an encoded value. The value is encoded when the request is built.
    ///
    /// - Parameters:
    ///   - name: the field's name. Defaults to `nil`.
    ///   - fileName: the file's name. Defaults to `nil`.
    ///   - encoder: the encoder. Defaults to the agent's.
    ///   - contentType: the media type. Defaults to the encoder's.
    public static func encoded(
        _ value: some Encodable & Sendable, name: String? = nil, fileName: String? = nil,
        encoder: (any BodyEncoder)? = nil, contentType: String? = nil
    ) -> Self {
        Self(.encoded({ try $0.encode(value) }, encoder), name: name, fileName: fileName, contentType: contentType)
    }

    /// Creates a part from a file. The request reads the file while it sends the part. Don't change the file until the
    /// request's last attempt has ended; see ``MultipartError/Code/fileChanged``.
    ///
    /// - Parameters:
    ///   - name: the field's name. Defaults to `nil`.
    ///   - fileName: the name to send. Defaults to the file's name; pass an empty string to omit it.
    ///   - contentType: the media type. Default: by the file's extension, otherwise `application/octet-stream`.
    public static func file(
        _ url: URL, name: String? = nil, fileName: String? = nil, contentType: String? = nil
    ) -> Self {
        let saved = fileName ?? url.lastPathComponent
        let type = contentType ?? FileTypes.contentType(of: url.lastPathComponent)
        return Self(.file(url), name: name, fileName: saved.isEmpty ? nil : saved, contentType: type)
    }

    /// Creates a part from a stream that can be opened again for each attempt.
    ///
    /// - Parameters:
    ///   - length: the length in bytes. Defaults to `nil`. The multipart body is then sent without a `Content-Length`.
    ///   - name: the field's name. Defaults to `nil`.
    ///   - fileName: the file's name. Defaults to `nil`.
    ///   - contentType: the media type. Default: by the extension of `fileName`, otherwise `application/octet-stream`.
    ///   - open: opens the stream, once per attempt.
    public static func stream(
        length: Int64? = nil, name: String? = nil, fileName: String? = nil, contentType: String? = nil,
        open: @escaping @Sendable () throws -> HTTPBody
    ) -> Self {
        let type = contentType ?? FileTypes.contentType(of: fileName ?? "")
        return Self(
            .stream(length: length, isReplayable: true, open: open), name: name, fileName: fileName, contentType: type)
    }

    /// Creates a part from an ``Errand/HTTPBody``. Unless that body is in memory, the request can be sent only once.
    public static func stream(
        _ body: HTTPBody, name: String? = nil, fileName: String? = nil, contentType: String? = nil
    ) -> Self {
        if let data = body.data { return .data(data, name: name, fileName: fileName, contentType: contentType) }
        let type = contentType ?? FileTypes.contentType(of: fileName ?? "")
        return Self(
            .stream(length: body.length, isReplayable: false, open: { body }), name: name, fileName: fileName,
            contentType: type)
    }

    var isReplayable: Bool { if case .stream(_, false, _) = content { false } else { true } }
}

extension Multipart.Part: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the field and the file.
    public var description: String {
        "\(name.map { "field \($0)" } ?? "a part")" + (fileName.map { ", file \($0)" } ?? "")
    }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so dumps show only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

enum FileTypes {
    static func contentType(of name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return unknown }
        return types[name[name.index(after: dot)...].lowercased()] ?? unknown
    }

    private static let unknown = "application/octet-stream"

    private static let types: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif",
        "bmp": "image/bmp", "bz2": "application/x-bzip2", "css": "text/css", "csv": "text/csv",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "epub": "application/epub+zip", "flac": "audio/flac", "geojson": "application/geo+json", "gif": "image/gif",
        "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif", "htm": "text/html", "html": "text/html",
        "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript", "json": "application/json", "jsonl": "application/jsonl", "jxl": "image/jxl",
        "m4a": "audio/mp4", "m4v": "video/mp4", "md": "text/markdown", "mjs": "text/javascript",
        "mkv": "video/matroska", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "mpeg": "video/mpeg", "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf",
        "pdf": "application/pdf", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
        "tiff": "image/tiff", "toml": "application/toml", "ts": "video/mp2t", "ttf": "font/ttf", "txt": "text/plain",
        "vcf": "text/vcard", "wasm": "application/wasm", "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm",
        "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2", "xhtml": "application/xhtml+xml",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "xz": "application/x-xz", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
        "zst": "application/zstd",
    ]
}
