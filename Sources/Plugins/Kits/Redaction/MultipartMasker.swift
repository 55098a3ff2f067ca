import ErrandEssentials
import ErrandHTTP
import ErrandHTTPFields
import ErrandMessageSyntax

/// Masks parts of a multipart body (RFC 2046, section 5.1) whose names are secret, and secret values in other parts.
///
/// Accepts any line end, truncated bodies and folded fields, so it masks every field that a server may read. A part
/// with an invalid head counts as secret.
struct MultipartMasker {
    private let bytes: [UInt8]
    /// The lines that separate parts. Some devices send a boundary that already includes the hyphens, so the boundary
    /// alone is a delimiter too.
    private let delimiters: [[UInt8]]
    private var position = 0
    private var result: [UInt8] = []

    init(_ bytes: [UInt8], boundary: String) {
        self.bytes = bytes
        let boundaries =
            boundary.isEmpty ? [] : boundary.hasPrefix("--") ? ["--\(boundary)", boundary] : ["--\(boundary)"]
        delimiters = boundaries.map { Array($0.utf8) }
    }

    /// Searches for a line with two hyphens before a `Content-Disposition`.
    static func boundary(in bytes: [UInt8]) -> String? {
        let (name, hyphens) = ("content-disposition:", UInt8(ascii: "-"))
        var last = bytes[..<0]
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let isField = line.first.map { $0 | 0x20 } == UInt8(ascii: "c")
            if isField, last.starts(with: [hyphens, hyphens]),
                ASCII.equalsIgnoringCase(String(decoding: line.prefix(name.utf8.count), as: UTF8.self), name)
            {
                return String(validating: last.dropFirst(2), as: UTF8.self)
            }
            last = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }
        return nil
    }

    mutating func masked(by redactor: inout Redactor, depth: Int) -> [UInt8]? {
        guard !delimiters.isEmpty else { return nil }
        while position < bytes.count, !isDelimiter(line(at: position)) { position = end(of: position) }
        guard position < bytes.count else { return nil }
        result += bytes[..<position]
        while position < bytes.count {
            let (line, end) = (line(at: position), end(of: position))
            result += bytes[position..<end]
            position = end
            // The line break before a delimiter.
            if line.isEmpty { continue }
            if isLastDelimiter(line) { break }
            part(&redactor, depth)
        }
        // Text after the last delimiter.
        result += bytes[position...]
        return result
    }

    private mutating func part(_ redactor: inout Redactor, _ depth: Int) {
        var (fields, isReadable) = ([(name: String, value: String)](), true)
        while position < bytes.count {
            let line = line(at: position)
            if isDelimiter(line) { return }
            if line.isEmpty {
                let start = position
                position = end(of: position)
                result += bytes[start..<position]
                break
            }
            if let field = field(&redactor) { fields.append(field) } else { isReadable = false }
        }
        let content = content()
        guard !content.isEmpty else { return }
        let isSecret = !isReadable || isSecret(fields, redactor.redaction)
        let type = fields.last { ASCII.equalsIgnoringCase($0.name, "content-type") }?.value
        if !isSecret, case .shown(let data) = redactor.body(Data(content), type, depth: depth + 1) {
            result += data
        } else {
            if let text = String(validating: content, as: UTF8.self) { redactor.remember(text) }
            result += Array(Redaction.mask.utf8)
        }
    }

    /// Reads a field and its continuation lines (RFC 5322, section 2.2.3), and masks a secret line by line.
    ///
    /// Returns `nil` for a line that isn't a field, and masks it, because a server may read it as part of a field.
    private mutating func field(_ redactor: inout Redactor) -> (name: String, value: String)? {
        var lines: [(text: ArraySlice<UInt8>, end: ArraySlice<UInt8>)] = []
        repeat {
            let (text, next) = (line(at: position), end(of: position))
            lines.append((text, bytes[text.endIndex..<next]))
            position = next
        } while position < bytes.count && ASCII.isBlank(bytes[position])
        let first = lines[0].text
        let colon = first.firstIndex(of: UInt8(ascii: ":"))
        let name = Self.trimmed(first[..<(colon ?? first.startIndex)])
        let values = [first[(colon.map { $0 + 1 } ?? first.startIndex)...]] + lines.dropFirst().map(\.text)
        let value = Self.trimmed(values.joined())
        if colon != nil, isShown(name, value: value, redaction: redactor.redaction) {
            for line in lines { result += line.text + line.end }
            return (name, value)
        }
        // Remembers the whole value and each line, because the value may be folded differently elsewhere.
        redactor.remember(value)
        if values.count > 1 { for value in values { redactor.remember(Self.trimmed(value)) } }
        if colon != nil { result += "\(name): ".utf8 }
        for line in lines { result += Redaction.mask.utf8 + line.end }
        return colon == nil ? nil : (name, value)
    }

    private func isShown(_ name: String, value: String, redaction: Redaction) -> Bool {
        name.lowercased().hasPrefix("content-")
            || !redaction.isSecret(HTTPHeaders.Field(HTTPHeaderName(name), value))
    }

    private static func trimmed(_ bytes: some Sequence<UInt8>) -> String {
        String(ASCII.trimmed(String(decoding: Array(bytes), as: UTF8.self)[...]))
    }

    private func isSecret(_ fields: [(name: String, value: String)], _ redaction: Redaction) -> Bool {
        fields.contains { field in
            switch field.name.lowercased() {
            case "content-disposition":
                // Parses the field in two ways, because servers treat backslashes within quotes differently.
                (ContentDisposition(parsing: field.value).parameters.all + FieldParameters(parsing: field.value).all)
                    .contains { ["name", "name*"].contains($0.name) && redaction.isSecret($0.value) }
            // Values with other encodings can't be masked.
            case "content-transfer-encoding": !["7bit", "8bit", "binary"].contains(field.value.lowercased())
            default: false
            }
        }
    }

    /// Ends before the next delimiter's line break.
    private mutating func content() -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, !isDelimiter(line(at: position)) { position = end(of: position) }
        var stop = position
        if position < bytes.count, stop > start, bytes[stop - 1] == UInt8(ascii: "\n") {
            stop -= 1
            if stop > start, bytes[stop - 1] == UInt8(ascii: "\r") { stop -= 1 }
        }
        position = stop
        return bytes[start..<stop]
    }

    private func line(at start: Int) -> ArraySlice<UInt8> {
        var stop = end(of: start)
        if stop > start, bytes[stop - 1] == UInt8(ascii: "\n") { stop -= 1 }
        if stop > start, bytes[stop - 1] == UInt8(ascii: "\r") { stop -= 1 }
        return bytes[start..<stop]
    }

    private func end(of start: Int) -> Int {
        bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    }

    private func isDelimiter(_ line: ArraySlice<UInt8>) -> Bool { rest(of: line) != nil }

    private func isLastDelimiter(_ line: ArraySlice<UInt8>) -> Bool {
        rest(of: line)?.starts(with: "--".utf8) == true
    }

    private func rest(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        for delimiter in delimiters where line.starts(with: delimiter) {
            let rest = line.dropFirst(delimiter.count)
            if (rest.starts(with: "--".utf8) ? rest.dropFirst(2) : rest).allSatisfy(ASCII.isBlank) { return rest }
        }
        return nil
    }
}
