import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport

/// Masks secret values in XML and HTML.
///
/// Masks the content of elements and the values of attributes with secret names, and values after a secret name, as in
/// `<key>password</key><string>…</string>` and `<input name="password" value="…">`.
///
/// This isn't a parser: it accepts any bytes, truncated text, and tags in comments.
struct XMLMasker {
    private let bytes: [UInt8]
    private let isSecret: (String) -> Bool
    private var position = 0
    private var result: [UInt8] = []
    private var secrets: [String] = []
    private var expectsSecret = false

    private static let mask = Array(Redaction.mask.utf8)
    /// HTML elements without content.
    private static let voids: Set<String> = ["input", "meta", "link", "img", "param", "br", "hr", "source", "embed"]
    /// Attributes that name their element's content.
    private static let namingAttributes: Set<String> = ["name", "key", "id", "type", "property", "field", "for"]

    private init(_ bytes: [UInt8], _ isSecret: @escaping (String) -> Bool) {
        (self.bytes, self.isSecret) = (bytes, isSecret)
    }

    /// Returns `nil` if tags can't be found, as in UTF-16.
    static func masked(
        _ bytes: [UInt8], where isSecret: (String) -> Bool
    ) -> (bytes: [UInt8], secrets: [String])? {
        if bytes.contains(0) { return nil }
        return withoutActuallyEscaping(isSecret) { isSecret in
            var masker = XMLMasker(bytes, isSecret)
            masker.scan()
            return (masker.result, masker.secrets)
        }
    }

    private mutating func scan() {
        while position < bytes.count {
            let open = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
            text(position..<open)
            position = open
            if position == bytes.count { return }
            if isAtCharacterData() {
                let start = position + Self.characterData.count
                let end = endOfCharacterData(from: start)
                result += bytes[position..<min(start, bytes.count)]
                text(min(start, end)..<end)
                position = end
            } else {
                tag()
            }
        }
    }

    private mutating func text(_ range: Range<Int>) {
        let trimmed = trimmed(range)
        if trimmed.isEmpty {
            result += bytes[range]
            return
        }
        let text = string(trimmed)
        if expectsSecret {
            expectsSecret = false
            secrets.append(text)
            result +=
                bytes[range.lowerBound..<trimmed.lowerBound] + Self.mask + bytes[trimmed.upperBound..<range.upperBound]
            return
        }
        expectsSecret = names(text)
        result += bytes[range.lowerBound..<trimmed.lowerBound]
        result += inner(trimmed) ?? Array(bytes[trimmed])
        result += bytes[trimmed.upperBound..<range.upperBound]
    }

    /// Returns `nil` if the range contains no secrets of URLs and pairs.
    private mutating func inner(_ range: Range<Int>) -> [UInt8]? {
        guard SecretsInText.mayOccur(in: bytes[range].span),
            let string = String(validating: bytes[range], as: UTF8.self)
        else { return nil }
        var found: [String] = []
        // In XML, `&amp;` can precede a name.
        let masked = SecretsInText.masked(
            string, where: { isSecret($0.hasPrefix("amp;") ? String($0.dropFirst(4)) : $0) }
        ) { found.append(String($0)) }
        secrets += found
        return masked.map { Array($0.utf8) }
    }

    private func names(_ text: String) -> Bool {
        text.utf8.count <= 64 && !text.utf8.contains(where: { $0 <= 0x20 }) && isSecret(text)
    }

    private mutating func tag() {
        let start = position
        position += 1
        let isEnd = position < bytes.count && bytes[position] == UInt8(ascii: "/")
        if position < bytes.count, "/?!".utf8.contains(bytes[position]) { position += 1 }
        let name = string(take { !Self.endsName($0) })
        result += bytes[start..<position]
        // Comments are read like text.
        if name.isEmpty || name.hasPrefix("--") { return }
        if isEnd { return rest() }
        var attributes: [(name: String, value: Range<Int>)] = []
        let end = self.attributes(&attributes)
        let isNamed = attributes.contains {
            Self.namingAttributes.contains(local($0.name)) && names(string($0.value))
        }
        var done = position
        for (name, value) in attributes {
            let isOwn = isSecret(name) || isSecret(local(name))
            let isMasked = (isOwn || isNamed && !Self.namingAttributes.contains(local(name))) && !value.isEmpty
            guard let mask = isMasked ? Self.mask : inner(value) else { continue }
            if isMasked { secrets.append(string(value)) }
            result += bytes[done..<value.lowerBound] + mask
            done = value.upperBound
        }
        result += bytes[done..<end]
        position = end
        let isEmpty = end >= 2 && bytes[end - 1] == UInt8(ascii: ">") && bytes[end - 2] == UInt8(ascii: "/")
        let isElement = bytes[start + 1] != UInt8(ascii: "?") && bytes[start + 1] != UInt8(ascii: "!")
        guard isElement, !isEmpty, !Self.voids.contains(name.lowercased()) else { return }
        if isNamed || isSecret(name) || isSecret(local(name)) { maskContent(of: Array(name.utf8)) }
    }

    /// Returns the position after the tag, without advancing to it.
    private mutating func attributes(_ found: inout [(name: String, value: Range<Int>)]) -> Int {
        let start = position
        defer { position = start }
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: ">") { return position + 1 }
            if byte == UInt8(ascii: "<") { return position }
            let name = take { !Self.endsName($0) }
            if name.isEmpty {
                position += 1
                continue
            }
            _ = take { $0 <= 0x20 }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { continue }
            position += 1
            _ = take { $0 <= 0x20 }
            guard position < bytes.count else { break }
            let quote = bytes[position]
            if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                position += 1
                found.append((string(name), take { $0 != quote }))
                position = min(position + 1, bytes.count)
            } else {
                found.append((string(name), take { $0 > 0x20 && $0 != UInt8(ascii: ">") }))
            }
        }
        return bytes.count
    }

    /// Masks up to the end of the element or text.
    private mutating func maskContent(of name: [UInt8]) {
        let start = position
        var (depth, end) = (1, bytes.count)
        while let open = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = open
            if isAtCharacterData() {
                let text = open + Self.characterData.count
                position = endOfCharacterData(from: text)
                secrets.append(string(text..<position))
                continue
            }
            let isEnd = open + 1 < bytes.count && bytes[open + 1] == UInt8(ascii: "/")
            position = open + (isEnd ? 2 : 1)
            guard bytes[min(position, bytes.count)...].starts(with: name) else { continue }
            position += name.count
            guard position == bytes.count || Self.endsName(bytes[position]) else { continue }
            let close = bytes[position...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.count
            if !isEnd, close == bytes.count || bytes[close - 1] != UInt8(ascii: "/") { depth += 1 }
            if isEnd { depth -= 1 }
            if depth == 0 {
                end = open
                break
            }
        }
        position = end
        let content = trimmed(start..<end)
        if content.isEmpty {
            result += bytes[start..<end]
            return
        }
        for piece in bytes[content].split(separator: UInt8(ascii: "<")) {
            let from =
                piece.startIndex == content.lowerBound
                ? piece.startIndex
                : (piece.firstIndex(of: UInt8(ascii: ">")) ?? piece.endIndex - 1) + 1
            let text = trimmed(from..<piece.endIndex)
            if text.isEmpty { continue }
            secrets.append(string(text))
            // The content of a `<key>` can be a secret, or the name of the secret that follows.
            expectsSecret = names(string(text))
        }
        result += bytes[start..<content.lowerBound] + Self.mask + bytes[content.upperBound..<end]
    }

    private mutating func rest() {
        let start = position
        _ = take { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "<") }
        if position < bytes.count, bytes[position] == UInt8(ascii: ">") { position += 1 }
        result += bytes[start..<position]
    }

    // MARK: Bytes

    private mutating func take(_ passes: (UInt8) -> Bool) -> Range<Int> {
        let start = position
        while position < bytes.count, passes(bytes[position]) { position += 1 }
        return start..<position
    }

    private static func endsName(_ byte: UInt8) -> Bool { byte <= 0x20 || "/>=<\"'".utf8.contains(byte) }

    private func local(_ name: String) -> String {
        name.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(name[name.utf8.index(after: $0)...]) }?.lowercased()
            ?? name.lowercased()
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        guard let first = range.first(where: { bytes[$0] > 0x20 }), let last = range.last(where: { bytes[$0] > 0x20 })
        else { return range.lowerBound..<range.lowerBound }
        return first..<(last + 1)
    }

    private static let (characterData, endOfData) = (Array("<![CDATA[".utf8), Array("]]>".utf8))

    private func isAtCharacterData() -> Bool {
        bytes.withSpan { $0.contains(Self.characterData, at: position) }
    }

    private func endOfCharacterData(from start: Int) -> Int {
        bytes.withSpan { $0.firstIndex(of: Self.endOfData, from: start) } ?? bytes.count
    }
}
