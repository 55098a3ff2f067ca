/// Conditions on a position in a text of well-formed UTF-8.
enum PatternPosition {
    static func holds(
        _ assertion: PatternAssertion, _ text: Span<UInt8>, _ position: Int
    ) -> Bool {
        switch assertion {
        case .start: position == 0
        case .end: position == text.count
        case .lineStart: position == 0 || isLineEnd(text, before: position)
        case .lineEnd: position == text.count || isLineEnd(text, at: position)
        case .boundary(let isNegative, let ignoresCase):
            (isWord(text, before: position, ignoresCase) != isWord(text, at: position, ignoresCase)) != isNegative
        }
    }

    // MARK: Words (ECMA-262, section 22.2.2.4.3)

    private static func isWord(_ text: Span<UInt8>, at position: Int, _ ignoresCase: Bool) -> Bool {
        guard position < text.count else { return false }
        if text[position] < 0x80 { return isWord(text[position]) }
        return ignoresCase && (matches(text, position, [0xC5, 0xBF]) || matches(text, position, [0xE2, 0x84, 0xAA]))
    }

    private static func isWord(
        _ text: Span<UInt8>, before position: Int, _ ignoresCase: Bool
    ) -> Bool {
        guard position > 0 else { return false }
        if text[position - 1] < 0x80 { return isWord(text[position - 1]) }
        return ignoresCase
            && (matches(text, position - 2, [0xC5, 0xBF]) || matches(text, position - 3, [0xE2, 0x84, 0xAA]))
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
    }

    // MARK: Lines

    private static func isLineEnd(_ text: Span<UInt8>, at position: Int) -> Bool {
        if text[position] == 0x0A || text[position] == 0x0D { return true }
        return matches(text, position, [0xE2, 0x80, 0xA8]) || matches(text, position, [0xE2, 0x80, 0xA9])
    }

    private static func isLineEnd(_ text: Span<UInt8>, before position: Int) -> Bool {
        if text[position - 1] == 0x0A || text[position - 1] == 0x0D { return true }
        return matches(text, position - 3, [0xE2, 0x80, 0xA8]) || matches(text, position - 3, [0xE2, 0x80, 0xA9])
    }

    private static func matches(
        _ text: Span<UInt8>, _ position: Int, _ bytes: [UInt8]
    ) -> Bool {
        guard position >= 0, position + bytes.count <= text.count else { return false }
        return bytes.indices.allSatisfy { text[position + $0] == bytes[$0] }
    }
}
