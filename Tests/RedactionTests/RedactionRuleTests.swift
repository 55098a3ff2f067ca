import ErrandHTTP
import ErrandRedaction
import ErrandTestSupport
import Foundation
import Testing

/// Compares the rules for secrets with a plain implementation, over random names and texts.
@Suite(.endsInTime, .leakChecked) struct RedactionRuleTests {
    private func isSecret(_ name: String, by redaction: Redaction) -> Bool {
        let decoded = decoded(name)
        let plain = String(
            decoded.lowercased().unicodeScalars
                .filter { $0.properties.isAlphabetic || $0.properties.numericType != nil }.map(Character.init))
        if redaction.shownNames.contains(plain) { return false }
        return redaction.secretWords.contains(plain)
            || redaction.secretNames.contains { part in
                part.isEmpty ? plain.contains(part) : occurs(part, in: Array(plain.unicodeScalars))
            }
    }

    /// Whether a part occurs outside of the ordinary words that contain it.
    private func occurs(_ part: String, in name: [Unicode.Scalar]) -> Bool {
        let part = Array(part.unicodeScalars)
        return name.indices.contains { start in
            guard name[start...].starts(with: part) else { return false }
            let (before, rest) = (text(name[..<(start + part.count)]), text(name[start...]))
            return switch text(part[...]) {
            case "auth":
                !rest.hasPrefix("author") || rest.hasPrefix("authoris") || rest.hasPrefix("authoriz")
            case "secret": !rest.hasPrefix("secretar")
            case "token":
                !["tokeniz", "tokenisa", "tokenise", "tokenisi"].contains { rest.hasPrefix($0) }
            case "iban": !rest.hasPrefix("ibandw")
            case "ssn":
                !["access", "address", "business", "class", "process", "success", "witness"].contains {
                    before.hasSuffix("\($0)n")
                }
            default: true
            }
        }
    }

    private func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    private func decoded(_ name: String) -> String {
        var (bytes, rest) = ([UInt8](), Array(name.utf8)[...])
        while let first = rest.popFirst() {
            let digits = rest.prefix(2)
            if first == UInt8(ascii: "%"), digits.count == 2,
                digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(byte)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(first)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let pieces =
        [
            "%", "%7", "%%", "%41", "%70", "%6B", "%c3%a9", "%ff", "_", "-", ".", "[", "", "a", "K", "key", "s", "si",
            "sig", "n", "o", "p", "pin", "t", "to", "tok", "oken", "pass", "word", "card", "number", "7", "0", "x",
            "or", "is", "iz", "ar", "dw", "cla", "proce",
        ] + Array(Redaction().secretNames) + Array(Redaction().secretWords)

    private static let otherPieces = [
        "é", "e\u{301}", "ß", "İ", "\u{212A}ey", "٣", "\u{345}", "가", "\u{1100}\u{1161}", "名",
    ]

    private func name(_ generator: inout SeededGenerator, of pieces: [String]) -> String {
        (0..<generator.below(6)).map { _ in
            let piece = generator.pick(pieces)
            return generator.chance(3) ? piece.uppercased() : piece
        }.joined()
    }

    /// Returns rules with other words than the defaults.
    private func rules(_ generator: inout SeededGenerator, of pieces: [String]) -> Redaction {
        var redaction = Redaction()
        if generator.chance(2) { return redaction }
        func words(_ generator: inout SeededGenerator) -> Set<String> {
            Set((0..<generator.below(6)).map { _ in name(&generator, of: pieces) })
        }
        if generator.chance(2) { redaction.secretNames = words(&generator) }
        if generator.chance(2) { redaction.secretWords.formUnion(words(&generator)) }
        if generator.chance(3) { redaction.shownNames = words(&generator) }
        return redaction
    }

    @Test("a name is secret if, and only if, a plain search finds one of the words in it", arguments: 0..<20)
    func names(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            let redaction = rules(&generator, of: Self.pieces)
            for _ in 0..<20 {
                let name = name(&generator, of: Self.pieces)
                #expect(redaction.isSecret(name) == isSecret(name, by: redaction), "\(name.debugDescription)")
            }
        }
    }

    @Test("a name in any script is masked if it is a secret word or contains a secret name", arguments: 0..<20)
    func otherNames(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            let redaction = rules(&generator, of: Self.pieces + Self.otherPieces)
            for _ in 0..<20 {
                let name = name(&generator, of: Self.pieces + Self.otherPieces)
                if isSecret(name, by: redaction) { #expect(redaction.isSecret(name), "\(name.debugDescription)") }
            }
        }
    }

    @Test("fields of JSON are judged like names")
    func fields() {
        var generator = SeededGenerator(seed: 1)
        let redaction = Redaction()
        for _ in 0..<500 {
            let name = name(&generator, of: Self.pieces + Self.otherPieces)
            var redactor = Redactor(redaction)
            let masked = redactor.json(Data("{\"\(name)\":7}".utf8)).map { String(decoding: $0, as: UTF8.self) }
            #expect(masked == (redaction.isSecret(name) ? "{\"\(name)\":\"•••\"}" : "{\"\(name)\":7}"))
        }
    }

    /// Returns the text with a mask for each run of bytes that secrets cover.
    private func masked(_ text: [UInt8], _ secrets: [[UInt8]]) -> [UInt8] {
        var ranges: [Range<Int>] = []
        for secret in secrets where secret.count <= text.count {
            for start in 0...(text.count - secret.count) where text[start...].starts(with: secret) {
                ranges.append(start..<start + secret.count)
            }
        }
        var (result, end) = ([UInt8](), 0)
        for start in text.indices where start >= end {
            guard ranges.contains(where: { $0.lowerBound == start }) else {
                result.append(text[start])
                end = start + 1
                continue
            }
            end = start
            while let longer = ranges.first(where: {
                $0.upperBound > end && ($0.lowerBound < end || $0.lowerBound == start)
            }) {
                end = longer.upperBound
            }
            result += "•••".utf8
        }
        return result
    }

    @Test("if secrets overlap, all of their bytes are masked, and all other bytes stay", arguments: 0..<20)
    func texts(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            let letters = Array("abcd".utf8.prefix(1 + generator.below(4)))
            func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in generator.pick(letters) } }
            let secrets = (0..<generator.below(6)).map { _ in bytes(6 + generator.below(4)) }
            var redactor = Redactor()
            for secret in secrets { redactor.remember(String(decoding: secret, as: UTF8.self)) }
            let text = bytes(generator.below(60))
            #expect(Array(redactor.masking(Data(text))) == masked(text, secrets))
            #expect(redactor.masking(String(decoding: text, as: UTF8.self)).utf8.elementsEqual(masked(text, secrets)))
        }
    }
}
