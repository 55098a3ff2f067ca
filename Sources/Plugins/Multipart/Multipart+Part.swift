public import Errand
public import ErrandEssentials

extension Multipart {
    /// One part: the source of its bytes, and its headers.
    ///
    /// ```swift
    /// let parts: [Multipart.Part] = [
    ///     .field("title", "A day at the sea"), .json(["x": 1], name: "position"),
    ///     .data(thumbnail, name: "thumbnail", fileName: "t.png"), .file(photo, name: "photo"),
    /// ]
    /// ```
    ///
    /// Names and file names may contain any characters, including line ends, quotes and any script: they are escaped in
    /// the header.
    public struct Part: Sendable {
        enum Content: Sendable {
            case data(Data)
            case encoded(@Sendable (any BodyEncoder) throws -> Data, (any BodyEncoder)?)
            case file(URL)
            case stream(length: Int64?, isReplayable: Bool, open: @Sendable () throws -> HTTPBody)
        }

        /// The name of the form's field; a part of a form needs one.
        public var name: String?
        /// The file name under which the receiver is to save the part; nil for none.
        public var fileName: String?
        /// Sent as the part's `Content-Type`; nil for none.
        public var contentType: String?
        /// Further headers of the part. A `Content-Disposition` or a `Content-Type` among them replaces the part's own.
        public var headers: HTTPHeaders = [:]
        let content: Content

        private init(_ content: Content, _ name: String?, _ fileName: String?, _ contentType: String?) {
            (self.content, self.name, self.fileName) = (content, name, fileName)
            self.contentType = contentType
        }

        /// The same part with further headers.
        public func with(_ headers: HTTPHeaders) -> Part {
            var copy = self
            copy.headers.merge(headers)
            return copy
        }
    }
}

extension Multipart.Part {
    /// A text field, in UTF-8 and unchanged, without a `Content-Type`, as browsers send it.
    public static func field(_ name: String, _ value: String) -> Self { Self(.data(Data(value.utf8)), name, nil, nil) }

    /// A field with a number or a boolean.
    public static func field(_ name: String, _ value: some LosslessStringConvertible) -> Self {
        field(name, String(value))
    }

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: the bytes.
    ///   - name: the name of the field; nil, the default, for none.
    ///   - fileName: the name of the file; nil, the default, for none.
    ///   - contentType: by default the type for the extension of `fileName`, else `application/octet-stream`.
    public static func data(
        _ data: Data, name: String? = nil, fileName: String? = nil, contentType: String? = nil
    ) -> Self {
        Self(.data(data), name, fileName, contentType ?? FileTypes.contentType(of: fileName ?? ""))
    }

    /// A value as JSON, written by `encoder`, or by the agent's encoder if that is a `JSONEncoder`. Encoded when the
    /// request is built.
    public static func json(
        _ value: some Encodable & Sendable, name: String? = nil, fileName: String? = nil, encoder: JSONEncoder? = nil
    ) -> Self {
        let encode: @Sendable (any BodyEncoder) throws -> Data = {
            try (encoder ?? $0 as? JSONEncoder ?? JSONEncoder()).encode(value)
        }
        return Self(.encoded(encode, nil), name, fileName, "application/json")
    }

    /// A value in the format of `encoder`, or of the agent's encoder. Encoded when the request is built.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - name: the name of the field; nil, the default, for none.
    ///   - fileName: the name of the file; nil, the default, for none.
    ///   - encoder: the encoder; the agent's by default.
    ///   - contentType: that of the encoder by default.
    public static func encoded(
        _ value: some Encodable & Sendable, name: String? = nil, fileName: String? = nil,
        encoder: (any BodyEncoder)? = nil, contentType: String? = nil
    ) -> Self {
        Self(.encoded({ try $0.encode(value) }, encoder), name, fileName, contentType)
    }

    /// A file, read while it is sent. It must not change from the building of the request to the end of the last
    /// attempt; see ``MultipartError/Code/fileChanged``.
    ///
    /// - Parameters:
    ///   - url: the URL of the file.
    ///   - name: the name of the field; nil, the default, for none.
    ///   - fileName: the file's name by default; empty for none.
    ///   - contentType: by default the type for the extension, else `application/octet-stream`.
    public static func file(
        _ url: URL, name: String? = nil, fileName: String? = nil, contentType: String? = nil
    ) -> Self {
        let saved = fileName ?? url.lastPathComponent
        let type = contentType ?? FileTypes.contentType(of: url.lastPathComponent)
        return Self(.file(url), name, saved.isEmpty ? nil : saved, type)
    }

    /// A stream that is opened anew for every attempt.
    ///
    /// - Parameters:
    ///   - length: in bytes; nil where it is not known, and then the whole body is sent without a length.
    ///   - name: the name of the field; nil, the default, for none.
    ///   - fileName: the name of the file; nil, the default, for none.
    ///   - contentType: by default the type for the extension of `fileName`, else `application/octet-stream`.
    ///   - open: opens the stream; called for each attempt.
    public static func stream(
        length: Int64? = nil, name: String? = nil, fileName: String? = nil, contentType: String? = nil,
        open: @escaping @Sendable () throws -> HTTPBody
    ) -> Self {
        let type = contentType ?? FileTypes.contentType(of: fileName ?? "")
        return Self(.stream(length: length, isReplayable: true, open: open), name, fileName, type)
    }

    /// A body that can be sent once; one in memory any number of times.
    public static func stream(
        _ body: HTTPBody, name: String? = nil, fileName: String? = nil, contentType: String? = nil
    ) -> Self {
        if let data = body.data { return .data(data, name: name, fileName: fileName, contentType: contentType) }
        let type = contentType ?? FileTypes.contentType(of: fileName ?? "")
        return Self(.stream(length: body.length, isReplayable: false, open: { body }), name, fileName, type)
    }

    var isReplayable: Bool { if case .stream(_, false, _) = content { false } else { true } }
}

extension Multipart.Part: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names, without the content.
    public var description: String {
        "\(name.map { "field \($0)" } ?? "a part")" + (fileName.map { ", file \($0)" } ?? "")
    }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
