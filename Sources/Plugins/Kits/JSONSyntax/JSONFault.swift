/// The reason why a text is not JSON (RFC 8259).
///
/// ``expected`` and ``found(in:at:)`` are its words for people: "a colon", "'}'".
public enum JSONFault: UInt8, Sendable, Hashable {
    /// Nothing is wrong.
    case none
    /// The text ends within a string.
    case unterminatedString
    /// A control character stands in a string without an escape.
    case controlCharacter
    /// A backslash begins no escape.
    case badEscape
    /// An escaped surrogate without its other half.
    case loneSurrogate
    /// Bytes of a string that are not UTF-8 (RFC 3629).
    case invalidUTF8
    /// A digit is missing in a number.
    case badNumber
    /// A digit follows a zero that begins a number.
    case leadingZero
    /// A word begins like `true`, `false` or `null`, and is none of them.
    case badLiteral
    /// No value begins where one has to.
    case value
    /// No key begins where one has to.
    case key
    /// The colon behind a key is missing.
    case colon
    /// Neither a comma nor the bracket follows an element.
    case elementEnd
    /// Neither a comma nor the brace follows a member.
    case memberEnd
    /// Something follows the value of the text.
    case end
    /// The text has no value.
    case empty

    /// The expected text.
    public var expected: String {
        switch self {
        case .none, .value, .empty: "a value"
        case .unterminatedString: "the end of a string"
        case .controlCharacter: "an escape for a control character"
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

    /// The text that was found at an index, or at the end; quotes at most one visible ASCII character.
    public func found(in bytes: Span<UInt8>, at index: Int) -> String {
        switch self {
        case .empty: return "an empty text"
        case .loneSurrogate: return "half of one"
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
