public import ErrandMessageSyntax

/// A `Content-Disposition` (RFC 6266): how a response is meant to be shown, and the name to save it under.
///
/// ```swift
/// ContentDisposition(parsing: #"attachment; filename="a.txt"; filename*=UTF-8''%C3%A4.txt"#).fileName    // "ä.txt"
/// ContentDisposition(fileName: "ä.txt").description
/// ```
public struct ContentDisposition: Sendable, Hashable {
    /// `attachment`, `inline` or another, in lower case; empty where a server leaves it out.
    public var type: String
    /// The parameters as they came, `filename*` still encoded.
    public var parameters: FieldParameters

    /// Reads a field value; of one longer than 8 KiB only the beginning. A backslash within quotes escapes the next
    /// character (RFC 9110, section 5.6.4), but in a part of a form, `form-data`, it stays: browsers write it as it is.
    public init(parsing value: String) {
        let text = value.utf8.count > Self.limit ? String(value.unicodeScalars.prefix(Self.limit)) : value
        let end = text.utf8.firstIndex(of: UInt8(ascii: ";")) ?? text.utf8.endIndex
        let first = ASCII.trimmed(text[..<end])
        // Some servers leave out the type.
        let hasType = !first.utf8.contains(UInt8(ascii: "="))
        type = hasType ? first.lowercased() : ""
        let rest = hasType ? text[end...] : text[...]
        parameters = type == "form-data" ? FieldParameters(ofForm: rest) : FieldParameters(parsing: rest)
    }

    /// Makes a disposition for a file name: `filename` in ASCII, and `filename*` where that loses something.
    public init(_ type: String = "attachment", fileName: String) {
        self.type = type.lowercased()
        let plain = String(
            String.UnicodeScalarView(
                fileName.unicodeScalars.map { $0.value >= 0x20 && $0.value < 0x7F && $0 != "%" ? $0 : "_" }))
        parameters = FieldParameters([.init("filename", plain, isQuoted: true)])
        if plain != fileName { parameters.all.append(.init("filename*", ExtendedValue.encode(fileName))) }
    }

    /// The name to save under: `filename*` before `filename` (section 4.3). As it was sent: it may hold slashes, `..`
    /// and control characters, so it is not a path until it has been made safe.
    public var fileName: String? {
        // A value in quotes is not encoded, whatever its name says.
        for parameter in parameters.all where parameter.name == "filename*" && !parameter.isQuoted {
            if let name = ExtendedValue.decode(parameter.value), !name.isEmpty { return name }
        }
        return parameters.all.first { $0.name == "filename" && !$0.value.isEmpty }?.value
    }

    /// Longer than any name that a file can have.
    private static let limit = 8 << 10
}

extension ContentDisposition: CustomStringConvertible {
    /// The field value.
    public var description: String {
        type
            + parameters.all.map { parameter in
                let value = parameter.isQuoted ? QuotedString.quoted(parameter.value) : parameter.value
                return "; \(parameter.name)=\(value)"
            }.joined()
    }
}
