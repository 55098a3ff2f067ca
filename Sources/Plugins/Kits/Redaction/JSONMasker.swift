public import ErrandEssentials
public import ErrandHTTP
import ErrandJSONSyntax
import ErrandMessageSyntax
import ErrandSupport

/// Masks the values of secret fields in JSON text, which may be truncated. Keeps all other bytes.
///
/// Also masks:
///
/// - a value that another member names, as in `{"name": "password", "value": "…"}`
/// - a string after the name of a secret header field, as in `["Authorization", "Bearer …"]`
/// - secrets in strings that contain JSON, URLs, a form, or pairs such as `token=…`
package struct JSONMasker {
    private let bytes: [UInt8]
    private let isSecret: (Span<UInt8>) -> Bool
    private var tokens: JSONTokenizer
    /// `nil` bytes mean the mask.
    private var replacements: [(range: Range<Int>, bytes: [UInt8]?)] = []
    private var secrets: [String] = []
    private let mask: String
    /// The number of strings around this text, because a string can contain JSON.
    private let depth: Int
    private var closers: [JSONToken.Kind] = []
    /// For each open container.
    private var pairs: [Pair] = []
    private var followsField = false

    private struct Pair {
        var isSecret = false
        /// The value, if it comes before the member that names it.
        var value: JSONToken?
        /// Whether the object is a JSON Web Key (RFC 7517).
        var isKey = false
        /// Values that are secret if the object is such a key.
        var parts: [JSONToken] = []
    }

    /// In lowercase. For example, `{"name": "password", "value": "…"}`.
    private static let namingMembers = ["name", "key", "id", "type", "property", "field"].map { Array($0.utf8) }
    private static let valueMembers = ["value", "values", "val", "v"].map { Array($0.utf8) }

    /// The token that may come next. `behind` is after a value.
    private enum Place { case value, valueOrEnd, name, nameOrEnd, behind }
    private var place = Place.value
    private var isJSON = true

    /// Texts with deeper containers aren't masked.
    private static let maximumDepth = 256

    /// Replaces each secret value with the mask as a string. Returns the text, and the replaced strings and words, or
    /// `nil` if the text isn't JSON. A field counts as secret if its name contains an escape.
    ///
    /// If `isStrict` is `false`, the text may contain several values, and words that JSON doesn't define. Passes field
    /// names to `isSecret` in UTF-8.
    package static func masked(
        _ bytes: [UInt8], with mask: String, isStrict: Bool = true,
        where isSecret: (Span<UInt8>) -> Bool
    ) -> (bytes: [UInt8], secrets: [String])? {
        withoutActuallyEscaping(isSecret) { masked(bytes, with: mask, isStrict: isStrict, depth: 0, where: $0) }
    }

    private static func masked(
        _ bytes: [UInt8], with mask: String, isStrict: Bool, depth: Int,
        where isSecret: @escaping (Span<UInt8>) -> Bool
    ) -> (bytes: [UInt8], secrets: [String])? {
        var masker = JSONMasker(bytes, mask: mask, depth: depth, isSecret)
        guard masker.scan(), masker.isJSON || !isStrict else { return nil }
        return masker.replacements.isEmpty ? (bytes, []) : (masker.replaced(), masker.secrets)
    }

    private init(_ bytes: [UInt8], mask: String, depth: Int, _ isSecret: @escaping (Span<UInt8>) -> Bool) {
        (self.bytes, self.mask, self.depth) = (bytes, mask, depth)
        self.isSecret = isSecret
        tokens = JSONTokenizer(bytes, isComplete: false)
    }

    private func replaced() -> [UInt8] {
        let mask = Array("\"\(mask)\"".utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var end = 0
        // Replacements aren't ordered, because a value can precede its name. If secrets within a masked value also have
        // replacements, the mask for the whole value comes first.
        let ordered = replacements.sorted { a, b in
            let (first, second) = (a.range.lowerBound, b.range.lowerBound)
            return first == second ? a.bytes == nil && b.bytes != nil : first < second
        }
        for (range, new) in ordered where range.lowerBound >= end {
            result += bytes[end..<range.lowerBound]
            result += new ?? mask
            end = range.upperBound
        }
        return result + bytes[end...]
    }

    private mutating func check(_ token: JSONToken) {
        // These two faults are accepted, because the text may have another charset, in which strings end at the same
        // quotes.
        if case .malformed(let fault, _) = token.state, fault != .invalidUTF8, fault != .loneSurrogate {
            isJSON = false
        }
        switch (token.kind, place) {
        case (.openBrace, .value), (.openBrace, .valueOrEnd): place = .nameOrEnd
        case (.openBracket, .value), (.openBracket, .valueOrEnd): place = .valueOrEnd
        case (.closeBrace, .nameOrEnd), (.closeBrace, .behind), (.closeBracket, .valueOrEnd), (.closeBracket, .behind):
            place = .behind
        case (.comma, .behind) where !closers.isEmpty: place = closers.last == .closeBrace ? .name : .value
        case (.string, .name), (.string, .nameOrEnd): place = .value
        case (.string, .value), (.number, .value), (.literal, .value), (.string, .valueOrEnd), (.number, .valueOrEnd),
            (.literal, .valueOrEnd):
            place = .behind
        case (.invalid, .value) where token.range == 0..<3 && bytes[token.range].elementsEqual([0xEF, 0xBB, 0xBF]):
            isJSON = true
        default: isJSON = false
        }
    }

    private mutating func scan() -> Bool {
        var mayBeName = false
        while let token = tokens.next() {
            check(token)
            if token.kind != .comma, token.kind != .string { followsField = false }
            switch token.kind {
            case .openBrace, .openBracket:
                guard closers.count < Self.maximumDepth else { return false }
                closers.append(token.kind == .openBrace ? .closeBrace : .closeBracket)
                pairs.append(Pair())
                mayBeName = token.kind == .openBrace
            case .closeBrace, .closeBracket:
                guard closers.popLast() == token.kind else { return false }
                pairs.removeLast()
                mayBeName = false
            case .comma: mayBeName = closers.last == .closeBrace
            case .colon: return false
            case .string where mayBeName:
                mayBeName = false
                guard let colon = tokens.next() else { return true }
                guard colon.kind == .colon else { return false }
                let name = bytes[token.content]
                if isSecretPair(name) || name.contains(JSONGrammar.backslash) || isSecret(name.span) { maskValue() }
            case .string where followsField:
                followsField = false
                replacements.append((token.range, nil))
                secrets.append(text(token.content))
            case .string:
                followsField = closers.last == .closeBracket && isSecretField(bytes[token.content])
                if !followsField { maskWithin(token) }
            case .number, .literal: break
            case .invalid:
                // A control character could hide a field from the scan, so the text is rejected. An unknown word can't
                // hide a field.
                guard bytes[token.range.lowerBound] > 0x20 else { return false }
            }
        }
        return true
    }

    /// Whether an earlier member of the object names the next value as secret. Remembers the object's naming member and
    /// value.
    private mutating func isSecretPair(_ name: ArraySlice<UInt8>) -> Bool {
        func isOne(of names: [[UInt8]]) -> Bool {
            names.contains { $0.count == name.count && zip($0, name).allSatisfy { $0 == $1 | 0x20 } }
        }
        guard name.count <= 8, let pair = pairs.last else { return false }
        if name.count <= 3, isPrivatePart(name) { return true }
        var ahead = tokens
        if isOne(of: Self.valueMembers) {
            if pair.isSecret { return true }
            if let value = ahead.next(), value.kind == .string || value.kind == .number {
                pairs[pairs.count - 1].value = value
            }
        } else if isOne(of: Self.namingMembers), let token = ahead.next(), token.kind == .string {
            let text = bytes[token.content]
            guard text.count <= 64, !text.contains(where: { $0 <= 0x20 }), isSecret(text.span) else { return false }
            pairs[pairs.count - 1].isSecret = true
            guard let value = pair.value else { return false }
            replacements.append((value.range, nil))
            secrets.append(self.text(value.kind == .string ? value.content : value.range))
            pairs[pairs.count - 1].value = nil
        }
        return false
    }

    /// Returns whether a member is a private part of a JSON Web Key (RFC 7518, section 6). Masks parts that come before
    /// the key's type.
    private mutating func isPrivatePart(_ name: ArraySlice<UInt8>) -> Bool {
        let last = pairs.count - 1
        var ahead = tokens
        if name.elementsEqual(Self.keyType) {
            guard let type = ahead.next(), type.kind == .string else { return false }
            for part in pairs[last].parts {
                replacements.append((part.range, nil))
                secrets.append(text(part.content))
            }
            pairs[last].isKey = true
            pairs[last].parts = []
        } else if Self.privateParts.contains(where: name.elementsEqual) {
            if pairs[last].isKey { return true }
            if let part = ahead.next(), part.kind == .string { pairs[last].parts.append(part) }
        }
        return false
    }

    private static let keyType = Array("kty".utf8)
    private static let privateParts = ["d", "k", "p", "q", "dp", "dq", "qi"].map { Array($0.utf8) }

    /// Only header fields count, because other names are often elements of a list, as in `"required": ["password",
    /// "email"]`.
    private func isSecretField(_ name: ArraySlice<UInt8>) -> Bool {
        guard (4...64).contains(name.count), name.allSatisfy(ASCII.isToken) else { return false }
        let isField =
            name.contains(UInt8(ascii: "-"))
            || Self.fields.contains { ASCII.equalsIgnoringCase(text(name.indices), $0) }
        return isField && isSecret(name.span)
    }

    private static let fields = ["authorization", "cookie"]

    private mutating func maskValue() {
        var range: Range<Int>?
        var depth = 0
        repeat {
            // Looks ahead in a copy, because the scan must read the token that ends the container or member.
            var ahead = tokens
            guard let token = ahead.next() else { break }
            switch token.kind {
            case .openBrace, .openBracket: depth += 1
            case .closeBrace, .closeBracket: depth -= 1
            case .string:
                var behind = ahead
                // Names within a secret value aren't secret.
                if depth == 0 || behind.next()?.kind != .colon { secrets.append(text(token.content)) }
            case .comma, .colon: if depth == 0 { depth = -1 }
            case .number, .literal: secrets.append(text(token.range))
            case .invalid: if bytes[token.range.lowerBound] > 0x20 { secrets.append(text(token.range)) }
            }
            guard depth >= 0 else { break }
            tokens = ahead
            range = (range?.lowerBound ?? token.range.lowerBound)..<token.range.upperBound
        } while depth > 0
        guard let range else { return }
        replacements.append((range, nil))
        place = .behind
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

// Strings that contain JSON, URLs, or a form.
extension JSONMasker {
    private static let maximumStrings = 4

    private mutating func maskWithin(_ token: JSONToken) {
        let content = bytes[token.content]
        guard depth < Self.maximumStrings,
            content.contains(UInt8(ascii: "{")) || SecretsInText.mayOccur(in: content.span),
            let (text, found) = maskedText(JSONGrammar.unescaped(content))
        else { return }
        secrets += found
        let isClosed = token.range.upperBound > token.content.upperBound
        replacements.append((token.range, Self.quoted(text, isClosed: isClosed)))
    }

    private func maskedText(_ text: [UInt8]) -> (bytes: [UInt8], secrets: [String])? {
        switch text.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let json = Self.masked(text, with: mask, isStrict: false, depth: depth + 1, where: isSecret)
            if let json, json.bytes != text { return json }
        case nil: return nil
        default: break
        }
        guard let string = String(validating: text, as: UTF8.self) else { return nil }
        let isSecret = { (name: String) in name.withSpan { self.isSecret($0) } }
        var found: [String] = []
        let form =
            RedactedBody.looksLikeForm(text)
            ? URLSyntax.redactedItems(string[...], where: isSecret) { found.append(String($0)) } : string
        let masked = SecretsInText.masked(form, where: isSecret) { found.append(String($0)) } ?? form
        return masked == string ? nil : (Array(masked.utf8), found)
    }

    private static func quoted(_ text: [UInt8], isClosed: Bool) -> [UInt8] {
        var result = [UInt8(ascii: "\"")]
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: result += Array("\\u00\(Hexadecimal.text([byte]))".utf8)
            default: result.append(byte)
            }
        }
        return isClosed ? result + [UInt8(ascii: "\"")] : result
    }
}

extension Redactor {
    /// Masks the values of secret fields in JSON text, and leaves all other bytes unchanged. The text may be truncated.
    ///
    /// Returns `nil` if the text isn't JSON, because its secrets then can't be found.
    public mutating func json(_ bytes: some Sequence<UInt8>) -> Data? { json(bytes, isStrict: true) }

    /// Like ``json(_:)``. Without `isStrict`, accepts several values, and words that JSON doesn't define.
    mutating func json(_ bytes: some Sequence<UInt8>, isStrict: Bool) -> Data? {
        let redaction = redaction
        let masked = JSONMasker.masked(Array(bytes), with: Redaction.mask, isStrict: isStrict) {
            redaction.isSecret($0)
        }
        guard let masked else { return nil }
        for secret in masked.secrets { remember(secret) }
        return Data(masked.bytes)
    }
}
