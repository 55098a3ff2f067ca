public import ErrandEssentials
public import ErrandHTTP
import ErrandJSONSyntax

/// Masks the values of secret fields in a JSON text, which may be truncated. All other bytes stay the same.
///
/// Also masks the value of a pair whose name is a secret's, as in `{"name": "password", "value": "…"}`.
package struct JSONMasker {
    private let bytes: [UInt8]
    private let isSecret: (Span<UInt8>) -> Bool
    private var tokens: JSONTokenizer
    private var secretRanges: [Range<Int>] = []
    private var secrets: [String] = []
    /// The closing brace or bracket of each open container.
    private var closers: [JSONToken.Kind] = []
    /// For each open container, the known parts of a pair of a name and a value.
    private var pairs: [Pair] = []

    private struct Pair {
        /// Whether a member names a secret.
        var isSecret = false
        /// A value that came before the name.
        var value: JSONToken?
    }

    /// Members that name the value of their object, in lowercase.
    private static let namingMembers = ["name", "key", "id", "type", "property", "field"].map { Array($0.utf8) }
    private static let valueMembers = ["value", "values", "val", "v"].map { Array($0.utf8) }

    /// What may come next: a value, a name, or what follows a value.
    private enum Place { case value, valueOrEnd, name, nameOrEnd, behind }
    private var place = Place.value
    /// Whether the tokens so far form a single JSON text.
    private var isJSON = true

    /// The maximum nesting of containers. Deeper texts aren't masked.
    private static let maximumDepth = 256

    /// Replaces each secret value with the mask as a string. Returns the text, and the secret strings and words that
    /// were replaced.
    ///
    /// A field counts as secret if its name contains an escape sequence. Returns `nil` if the text isn't JSON, as far
    /// as it goes.
    ///
    /// - Parameters:
    ///   - isStrict: Whether the text must strictly follow RFC 8259. If false, it may consist of several values or
    ///     contain words that JSON doesn't know, as long as its fields are clear.
    ///   - isSecret: Returns whether the field with a name, in UTF-8, holds a secret.
    package static func masked(
        _ bytes: [UInt8], with mask: String, isStrict: Bool = true,
        where isSecret: (Span<UInt8>) -> Bool
    ) -> (bytes: [UInt8], secrets: [String])? {
        withoutActuallyEscaping(isSecret) { isSecret in
            var masker = JSONMasker(bytes, isSecret)
            guard masker.scan(), masker.isJSON || !isStrict else { return nil }
            if masker.secretRanges.isEmpty { return (bytes, []) }
            masker.secretRanges.sort { $0.lowerBound < $1.lowerBound }
            return (masker.replaced(with: Array("\"\(mask)\"".utf8)), masker.secrets)
        }
    }

    private init(_ bytes: [UInt8], _ isSecret: @escaping (Span<UInt8>) -> Bool) {
        self.bytes = bytes
        self.isSecret = isSecret
        tokens = JSONTokenizer(bytes, isComplete: false)
    }

    private func replaced(with mask: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var end = 0
        for range in secretRanges {
            result += bytes[end..<range.lowerBound]
            result += mask
            end = range.upperBound
        }
        return result + bytes[end...]
    }

    /// Records whether a token is valid JSON and allowed at this place.
    private mutating func check(_ token: JSONToken) {
        // In a charset other than UTF-8, strings still end at the same quotes.
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
            // A byte order mark.
            isJSON = true
        default: isJSON = false
        }
    }

    private mutating func scan() -> Bool {
        var mayBeName = false
        while let token = tokens.next() {
            check(token)
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
            case .string, .number, .literal: break
            case .invalid:
                // An unknown word can't hide a field, but a control character can.
                guard bytes[token.range.lowerBound] > 0x20 else { return false }
            }
        }
        return true
    }

    /// Returns whether the member to read next is the value of a secret that another member names. Notes names and
    /// values of pairs.
    private mutating func isSecretPair(_ name: ArraySlice<UInt8>) -> Bool {
        func isOne(of names: [[UInt8]]) -> Bool {
            names.contains { $0.count == name.count && zip($0, name).allSatisfy { $0 == $1 | 0x20 } }
        }
        guard name.count <= 8, let pair = pairs.last else { return false }
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
            secretRanges.append(value.range)
            secrets.append(self.text(value.kind == .string ? value.content : value.range))
            pairs[pairs.count - 1].value = nil
        }
        return false
    }

    /// Skips the value of a secret field, and records its range and contents.
    private mutating func maskValue() {
        var range: Range<Int>?
        var depth = 0
        repeat {
            // Leaves the token that ends the container or member to the scan.
            var ahead = tokens
            guard let token = ahead.next() else { break }
            switch token.kind {
            case .openBrace, .openBracket: depth += 1
            case .closeBrace, .closeBracket: depth -= 1
            case .string:
                var behind = ahead
                // Names inside a secret value aren't secret.
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
        secretRanges.append(range)
        place = .behind
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension Redactor {
    /// Returns a JSON text with the values of secret fields masked and all other bytes unchanged. The text may be
    /// truncated.
    ///
    /// Returns `nil` if the text isn't JSON as far as it goes, because its secrets are unknown.
    public mutating func json(_ bytes: some Sequence<UInt8>) -> Data? { json(bytes, isStrict: true) }

    /// - Parameter isStrict: Pass false to accept several values, and words that JSON doesn't know.
    mutating func json(_ bytes: some Sequence<UInt8>, isStrict: Bool) -> Data? {
        let masked = JSONMasker.masked(Array(bytes), with: Redaction.mask, isStrict: isStrict) {
            redaction.isSecret($0)
        }
        guard let masked else { return nil }
        for secret in masked.secrets { remember(secret) }
        return Data(masked.bytes)
    }
}
