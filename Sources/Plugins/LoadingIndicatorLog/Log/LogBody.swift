import ErrandEssentials
import ErrandHTTP
import ErrandJSONSyntax
import ErrandMessageSyntax
import ErrandRedaction

/// Describes bodies in a log.
enum LogBody {
    /// Returns JSON indented, text as it is, and other bodies as a description of their size.
    static func text(_ data: Data, contentType: String?, length: Int64?, _ redactor: inout Redactor) -> String? {
        if data.isEmpty { return nil }
        let type = contentType.flatMap { MediaType.essence(of: $0) } ?? ""
        let whole = max(length ?? 0, Int64(data.count))
        let rest = whole > Int64(data.count) ? "\n… \(whole) bytes in all" : ""
        let size = "(\(type.isEmpty ? "a body" : type), \(whole) bytes)"
        let kind = Kind(type)
        if kind == .bytes { return size }
        let bytes = kind == .guessed ? data : utf8(data, contentType)
        if bytes.contains(0) || kind == .guessed && !looksLikeText(bytes, isTruncated: whole > data.count) {
            return size
        }
        guard case .shown(let masked) = redactor.body(bytes, contentType: contentType) else { return size }
        return (kind == .json ? JSONIndenter.text(masked) : String(decoding: masked, as: UTF8.self)) + rest
    }

    private enum Kind {
        case json
        case text
        /// A type that can contain text or other bytes.
        case guessed
        case bytes

        init(_ type: String) {
            if type == "application/json" || type == "text/json" || type.hasSuffix("+json") {
                self = .json
            } else if type.hasPrefix("text/") || type.hasSuffix("+xml") || type.hasSuffix("+yaml")
                || LogBody.textTypes.contains(type)
            {
                self = .text
            } else {
                let isGuessed = type.isEmpty || type.hasPrefix("multipart/") || type.hasPrefix("message/")
                self = isGuessed ? .guessed : .bytes
            }
        }
    }

    /// The types outside `text` in which a redactor finds secrets.
    private static let textTypes: Set<String> = [
        "application/x-www-form-urlencoded", "application/xml", "application/yaml", "application/x-yaml",
        "application/toml", "application/graphql", "application/jwt", "application/x-pem-file", "application/x-ndjson",
        "application/ndjson", "application/jsonl", "application/json-seq",
    ]

    /// Returns text of another charset as UTF-8. Returns other bytes unchanged, even if the charset is unknown.
    private static func utf8(_ data: Data, _ contentType: String?) -> Data {
        let label = contentType.flatMap { MediaType(parsing: $0) }?.parameters["charset"] ?? ""
        guard let charset = Charset(label: label), charset != .utf8 else { return data }
        // The copy may end within a character.
        for rest in 0..<min(4, data.count) {
            if let text = charset.decode(data.dropLast(rest)) { return Data(text.utf8) }
        }
        return data
    }

    /// Returns whether the bytes are UTF-8 without control characters, except for white space.
    private static func looksLikeText(_ bytes: Data, isTruncated: Bool) -> Bool {
        if bytes.contains(where: { $0 < 0x20 && !(0x09...0x0D).contains($0) || $0 == 0x7F }) { return false }
        // The copy may end within a character.
        return (0..<(isTruncated ? min(4, bytes.count) : 1)).contains { rest in
            String(validating: bytes.dropLast(rest), as: UTF8.self) != nil
        }
    }
}

/// Indents JSON. Keeps the names, the order and the numbers as they are.
struct JSONIndenter {
    private var result: [UInt8] = []
    private var depth = 0

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var indenter = JSONIndenter()
        indenter.indent(Array(bytes))
        return String(decoding: indenter.result, as: UTF8.self)
    }

    private mutating func indent(_ bytes: [UInt8]) {
        var tokens = JSONTokenizer(bytes, isComplete: false)
        var previous: JSONToken.Kind?
        while let token = tokens.next() {
            let isClosing = token.kind == .closeBrace || token.kind == .closeBracket
            if isClosing { depth = max(0, depth - 1) }
            switch previous {
            case .openBrace where token.kind != .closeBrace, .openBracket where token.kind != .closeBracket, .comma:
                newLine()
            case .none, .openBrace, .openBracket: break
            default: if isClosing { newLine() }
            }
            result += bytes[token.range]
            if token.kind == .openBrace || token.kind == .openBracket { depth += 1 }
            if token.kind == .colon { result.append(0x20) }
            previous = token.kind
        }
        if previous == .openBrace || previous == .openBracket || previous == .comma { newLine() }
    }

    private mutating func newLine() {
        result.append(UInt8(ascii: "\n"))
        result += repeatElement(0x20, count: 2 * min(depth, 20))
    }
}
