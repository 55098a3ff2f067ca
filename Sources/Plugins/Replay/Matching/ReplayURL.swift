import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

struct ReplayURL: Sendable, Hashable {
    let origin: String
    let path: String
    let items: [String]

    init(_ text: String, _ matching: ReplayMatching) {
        let plain = text.prefix { $0 != "#" }
        let mark = plain.utf8.firstIndex(of: UInt8(ascii: "?")) ?? plain.endIndex
        let colon = plain[..<mark].utf8.firstIndex(of: UInt8(ascii: ":")) ?? plain.startIndex
        let start = plain.utf8.index(colon, offsetBy: 3, limitedBy: mark) ?? mark
        let slash = plain[start..<mark].utf8.firstIndex(of: UInt8(ascii: "/")) ?? mark
        let scheme = plain[..<colon].lowercased()
        let authority = plain[start..<slash]
        let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority.utf8.index(after: $0) }
        var host = authority[(at ?? authority.startIndex)...].lowercased()
        for port in [scheme == "https" ? ":443" : ":80", ":"] where host.hasSuffix(port) {
            host.removeLast(port.utf8.count)
            break
        }
        origin = matching.ignoresOrigin ? "" : "\(scheme)://\(host)"
        path = slash == mark ? "/" : Self.normal(plain[slash..<mark], apart: Self.apartInPath)
        let query = mark == plain.endIndex ? "" : plain[plain.utf8.index(after: mark)...]
        let ignored = matching.ignoredQueryItems
        items = QueryItem.split(query).filter { ignored.isEmpty || !ignored.contains($0.name) }.map(Self.normal)
    }

    /// The characters that mean something else in a path if they're escaped, so their escapes are kept. For example,
    /// `/a%2Fb` is a single segment.
    private static let apartInPath = Array("/;?#%\\".utf8)
    /// The characters that mean something else in the name of a query item if they're escaped. In a name, `+` may be a
    /// space, and `;` may be a separator.
    private static let apartInName = Array("&=+#%;".utf8)
    /// The characters that mean something else in the value of a query item if they're escaped. In a value, `=` isn't a
    /// delimiter.
    private static let apartInValue = Array("&+#%;".utf8)

    private static func normal(_ item: QueryItem) -> String {
        let name = normal(item.encodedName, apart: apartInName)
        return item.encodedValue.map { "\(name)=\(normal($0, apart: apartInValue))" } ?? name
    }

    /// Returns a text with uniform percent-encoding. Apps that follow RFC 3986 escape characters such as `[`, `|` and
    /// `,`, but browsers don't (WHATWG URL, section 1.3).
    ///
    /// - Parameter apart: The characters that mean something else if they're escaped.
    private static func normal(_ text: Substring, apart: [UInt8]) -> String {
        if text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }) { return String(text) }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            // A percent sign that doesn't begin an escape is an ordinary character.
            var (byte, isEscaped, length) = (bytes[index], bytes[index] == UInt8(ascii: "%"), 1)
            if isEscaped, index + 2 < bytes.count, let high = ASCII.hexValue(bytes[index + 1]),
                let low = ASCII.hexValue(bytes[index + 2])
            {
                (byte, length) = (high << 4 | low, 3)
            }
            isEscaped = isEscaped && apart.contains(byte)
            index += length
            if byte > 0x20, byte < 0x7F, !isEscaped {
                result.append(byte)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self).replacing("%E2%80%A2%E2%80%A2%E2%80%A2", with: Redaction.mask)
    }

    var text: String { items.isEmpty ? origin + path : "\(origin)\(path)?\(items.joined(separator: "&"))" }

    /// The URL as a server understands it that reads the query as a form (WHATWG URL, section 5). In a form, `+` is a
    /// space, and `;` isn't a separator. It's nil if the query contains neither of these characters.
    var formText: String? {
        let marks = ["+", "%20", ";", "%3B"]
        guard items.contains(where: { item in marks.contains { item.contains($0) } }) else { return nil }
        let items = items.map { $0.replacing("+", with: "%20").replacing("%3B", with: ";") }
        return "\(origin)\(path)?\(items.joined(separator: "&"))"
    }

    var hasMask: Bool { ([origin, path] + items).contains(where: MaskedText.hasMask) }

    func matches(_ other: ReplayURL) -> Bool {
        items.count == other.items.count && MaskedText.matches(origin, other.origin)
            && MaskedText.matches(path, other.path)
            && zip(items, other.items).allSatisfy { MaskedText.matches($0, $1) }
    }
}

enum MaskedText {
    static func hasMask(_ text: String) -> Bool { text.utf8.contains(0xE2) && text.contains(Redaction.mask) }

    static func matches(_ pattern: String, _ text: String) -> Bool {
        if pattern.hasSameBytes(as: text) { return true }
        guard hasMask(pattern) else { return false }
        return matches(Array(pattern.utf8), Array(text.utf8))
    }

    static func matches(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
        let pieces = pattern.split(separator: Array(Redaction.mask.utf8), omittingEmptySubsequences: false)
        guard let first = pieces.first, let last = pieces.last, pieces.count > 1 else { return pattern == text }
        guard text.count >= first.count + last.count, text.starts(with: first),
            text.suffix(last.count).elementsEqual(last)
        else { return false }
        var rest = text[first.count..<(text.count - last.count)]
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let found = BytePattern(piece).firstMatch(in: rest) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}
