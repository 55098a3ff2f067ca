import ErrandSupport

/// The parameters of a field value (RFC 9110, section 5.6.6): `; charset=utf-8; title="a b"`.
///
/// Names compare without case and are kept in lower case; values are unquoted. A parameter without `=`, or without a
/// name, is left out. Of a name that repeats, the first value counts.
public struct FieldParameters: Sendable, Hashable {
    /// One parameter.
    public struct Parameter: Sendable, Hashable {
        /// In lower case.
        public var name: String
        /// Without its quotes.
        public var value: String
        /// Whether the value stood in quotes.
        public var isQuoted: Bool

        /// Makes a parameter; the name is stored in lower case.
        public init(_ name: String, _ value: String, isQuoted: Bool = false) {
            self.name = name.lowercased()
            self.value = value
            self.isQuoted = isQuoted
        }
    }

    /// In the order of the field.
    public var all: [Parameter]

    /// Makes parameters of a list, in its order.
    public init(_ all: [Parameter] = []) { self.all = all }

    /// Reads the parameters that follow a value, from its first semicolon on; at most 64.
    public init(parsing text: some StringProtocol) {
        self.init(parsing: text, ofForm: false)
    }

    /// Reads the parameters of a form's part, in whose quotes a backslash escapes nothing (HTML, "Multipart form data").
    package init(ofForm text: some StringProtocol) {
        self.init(parsing: text, ofForm: true)
    }

    private init(parsing text: some StringProtocol, ofForm isForm: Bool) {
        all = []
        var scanner = FieldScanner(text)
        while !scanner.isAtEnd, all.count < Self.limit {
            _ = scanner.run { $0 == UInt8(ascii: ";") || ASCII.isBlank($0) }
            let name = scanner.run { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            guard scanner.skip(UInt8(ascii: "=")) else { continue }
            scanner.skipBlanks()
            let quoted = isForm ? scanner.formString() : scanner.quotedString()
            let rest = scanner.text { $0 != UInt8(ascii: ";") }
            let key = Self.trimmed(name)
            if key.isEmpty { continue }
            all.append(Parameter(key, quoted ?? String(ASCII.trimmed(rest[...])), isQuoted: quoted != nil))
        }
    }

    /// The first value of a name in any case.
    public subscript(name: String) -> String? {
        all.first { ASCII.equalsIgnoringCase($0.name, name) }?.value
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        String(ASCII.trimmed(String(decoding: bytes, as: UTF8.self)[...]))
    }

    private static let limit = 64
}

extension FieldParameters: CustomStringConvertible {
    /// `; name=value` for each, quoted where the value is no token.
    public var description: String {
        all.map { parameter in
            let isToken = !parameter.value.isEmpty && parameter.value.utf8.allSatisfy(ASCII.isToken)
            return "; \(parameter.name)=" + (isToken ? parameter.value : QuotedString.quoted(parameter.value))
        }.joined()
    }
}

/// Quoted strings (RFC 9110, section 5.6.4).
public enum QuotedString {
    /// The text in quotes, `"` and `\` escaped. Control characters become spaces, since no field value may hold them.
    public static func quoted(_ text: String) -> String {
        var result = "\""
        if text.withSpan({ $0.allSatisfy(isPlain) }) { return result + text + "\"" }
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
            let isControl = scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7F
            result.unicodeScalars.append(isControl ? " " : scalar)
        }
        return result + "\""
    }

    /// Whether a byte stands for itself within the quotes.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// The content of text that is a quoted string as a whole; nil for anything else.
    public static func content(_ text: some StringProtocol) -> String? {
        var scanner = FieldScanner(text)
        guard text.utf8.count >= 2, let content = scanner.quotedString() else {
            return nil
        }
        return scanner.isAtEnd && scanner.isClosed ? content : nil
    }
}
