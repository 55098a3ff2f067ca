import ErrandSupport

/// The parameters of a field value (RFC 9110, section 5.6.6), such as `; charset=utf-8; title="a b"`. Names are
/// lowercased, and values unquoted. Parameters without `=` or a name are skipped. If a name repeats, the first value
/// counts.
public struct FieldParameters: Sendable, Hashable {
    /// One parameter of a field: a name and a value.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lowercase.
        public var name: String
        /// The value, without quotes.
        public var value: String
        /// Whether the value was written in quotation marks.
        public var isQuoted: Bool

        /// Creates a parameter with a lowercased name.
        public init(_ name: String, _ value: String, isQuoted: Bool = false) {
            self.name = name.lowercased()
            self.value = value
            self.isQuoted = isQuoted
        }
    }

    /// The parameters, in the order of the field.
    public var all: [Parameter]

    /// Creates parameters from an ordered list.
    public init(_ all: [Parameter] = []) { self.all = all }

    /// Parses at most 64 parameters, starting at the first semicolon of a value.
    public init(parsing text: some StringProtocol) {
        self.init(parsing: text, ofForm: false)
    }

    /// Parses the parameters of a form part, where a backslash isn't an escape (HTML, "Multipart form data").
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

    /// The first value of a name, ignoring case.
    public subscript(name: String) -> String? {
        all.first { ASCII.equalsIgnoringCase($0.name, name) }?.value
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        String(ASCII.trimmed(String(decoding: bytes, as: UTF8.self)[...]))
    }

    private static let limit = 64
}

extension FieldParameters: CustomStringConvertible {
    /// Each parameter as `; name=value`, with the value quoted unless it's a token.
    public var description: String {
        all.map { parameter in
            let isToken = !parameter.value.isEmpty && parameter.value.utf8.allSatisfy(ASCII.isToken)
            return "; \(parameter.name)=" + (isToken ? parameter.value : QuotedString.quoted(parameter.value))
        }.joined()
    }
}

/// Reads and writes quoted strings (RFC 9110, section 5.6.4).
public enum QuotedString {
    /// Returns the text in quotes, with `"` and `\` escaped. Control characters become spaces.
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

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Returns the content of a quoted string, or nil for any other text.
    public static func content(_ text: some StringProtocol) -> String? {
        var scanner = FieldScanner(text)
        guard text.utf8.count >= 2, let content = scanner.quotedString() else {
            return nil
        }
        return scanner.isAtEnd && scanner.isClosed ? content : nil
    }
}
