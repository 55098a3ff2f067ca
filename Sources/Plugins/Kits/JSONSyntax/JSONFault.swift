/// The reason why a text isn't JSON (RFC 8259).
public enum JSONFault: UInt8, Sendable, Hashable {
    /// The text is valid.
    case none
    /// The text ends within a string.
    case unterminatedString
    /// A string contains a control character that isn't escaped.
    case controlCharacter
    /// A backslash doesn't begin a valid escape.
    case badEscape
    /// Half of a surrogate pair is missing.
    case loneSurrogate
    /// A string contains bytes that aren't UTF-8 (RFC 3629).
    case invalidUTF8
    /// A number is missing a digit.
    case badNumber
    /// A number begins with a zero and another digit.
    case leadingZero
    /// A word begins like `true`, `false`, or `null`, but is spelled differently.
    case badLiteral
    /// A value is missing.
    case value
    /// A key is missing.
    case key
    /// The colon after a key is missing.
    case colon
    /// An element isn't followed by a comma or the closing bracket.
    case elementEnd
    /// A member isn't followed by a comma or the closing brace.
    case memberEnd
    /// The text continues after its value.
    case end
    /// The text doesn't contain a value.
    case empty

    /// The text that was expected, in words, such as "a colon".
    public var expected: String {
        switch self {
        case .none, .value, .empty: "a value"
        case .unterminatedString: "the end of a string"
        case .controlCharacter: "an escape instead of a control character"
        case .badEscape: "an escape"
        case .loneSurrogate: "a pair of surrogates"
        case .invalidUTF8: "UTF-8"
        case .badNumber: "a digit"
        case .leadingZero: "a number without leading zeros"
        case .badLiteral: "true, false or null"
        case .key: "a key in quotes"
        case .colon: "a colon"
        case .elementEnd: "a comma or the end of the array"
        case .memberEnd: "a comma or the end of the object"
        case .end: "the end of the text"
        }
    }

    /// Returns the text at an index in words, such as "'}'" or "the end of the text". Quotes at most one visible ASCII
    /// character.
    public func found(in bytes: Span<UInt8>, at index: Int) -> String {
        switch self {
        case .empty: return "an empty text"
        case .loneSurrogate: return "half of a pair"
        default: break
        }
        guard index < bytes.count else { return "the end of the text" }
        let byte = bytes[index]
        return switch byte {
        case 0x21...0x7E: "'\(Character(Unicode.Scalar(byte)))'"
        case 0x20: "a space"
        default: "byte 0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
        }
    }
}
