import ErrandSupport

/// A media type with its parameters (RFC 9110, section 8.3.1), such as `text/html; charset=utf-8`.
///
/// If a server sends `Content-Type` twice, the values arrive as a list, and the last valid type counts. If that type
/// has no charset, it gets the charset of an equal type before it in the list (Fetch, "extract a MIME type").
///
/// ```swift
/// let type = MediaType(parsing: "Application/Problem+JSON; charset=utf-8")
/// type?.essence            // "application/problem+json"
/// type?.suffix             // "json"
/// ```
public struct MediaType: Sendable, Hashable {
    /// The type and the subtype in lowercase, such as "text/html".
    public let essence: String
    /// The parameters after the type.
    public var parameters: FieldParameters

    /// Parses a `Content-Type`, or the last valid type of a list. Returns nil without a type and a subtype.
    public init?(parsing text: some StringProtocol) {
        let text = String(text)
        if Self.mayBeList(text) {
            self.init(list: text)
        } else {
            self.init(single: text)
        }
    }

    private init?(single text: String) {
        guard let essence = Self.singleEssence(of: text) else { return nil }
        self.essence = essence
        let semicolon = text.utf8.firstIndex(of: UInt8(ascii: ";")) ?? text.utf8.endIndex
        parameters = FieldParameters(parsing: text[semicolon...])
        // An empty value counts only in quotes (WHATWG MIME Sniffing, section 4.4).
        parameters.all.removeAll { $0.value.isEmpty && !$0.isQuoted }
    }

    private init?(list: String) {
        var (result, charset): (MediaType?, FieldParameters.Parameter?)
        for item in FieldList.items(list) {
            guard var type = MediaType(single: String(item)), type.essence != "*/*" else { continue }
            if type.essence != result?.essence { charset = nil }
            if let own = type.parameters.all.first(where: { $0.name == "charset" }) {
                charset = own
            } else if let charset {
                type.parameters.all.append(charset)
            }
            result = type
        }
        guard let result else { return nil }
        self = result
    }

    private static func mayBeList(_ text: String) -> Bool { text.withSpan { $0.contains(UInt8(ascii: ",")) } }

    /// Returns the lowercase `type/subtype` of a `Content-Type`, without its parameters. Parses like
    /// ``init(parsing:)``.
    public static func essence(of text: some StringProtocol) -> String? {
        let text = String(text)
        return mayBeList(text) ? MediaType(list: text)?.essence : singleEssence(of: text)
    }

    private static func singleEssence(of text: String) -> String? {
        text.withSpan { text in
            var slash: Int?
            var bytes: [UInt8] = []
            bytes.reserveCapacity(text.count)
            var isOver = false
            for index in text.indices {
                let byte = text[index]
                if byte == UInt8(ascii: ";") { break }
                if ASCII.isBlank(byte) {
                    isOver = !bytes.isEmpty
                    continue
                }
                if isOver { return nil }
                if byte == UInt8(ascii: "/") {
                    if slash != nil || bytes.isEmpty { return nil }
                    slash = bytes.count
                } else if !ASCII.isToken(byte) {
                    return nil
                }
                bytes.append(ASCII.lowercase(byte))
            }
            guard let slash, slash + 1 < bytes.count else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The top-level type, before the slash: "application".
    public var type: Substring { essence.prefix { $0 != "/" } }

    /// The subtype, after the slash: "problem+json".
    public var subtype: Substring { essence.dropFirst(type.count + 1) }

    /// The structured syntax suffix after the last `+` (RFC 6839), such as "json". Nil without a suffix.
    public var suffix: Substring? {
        subtype.lastIndex(of: "+").map { subtype[subtype.index(after: $0)...] }
    }
}

extension MediaType: CustomStringConvertible {
    /// The type with its parameters, as a field value.
    public var description: String { essence + parameters.description }
}
