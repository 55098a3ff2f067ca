/// Why a text is not JSON.
enum SyntaxFault: UInt8 {
    case none
    case unterminatedString
    case controlCharacter
    case badEscape
    case loneSurrogate
    case invalidUTF8
    case badNumber
    case leadingZero
    case badLiteral
    case value
    case key
    case colon
    case elementEnd
    case memberEnd
    case end
    case empty

    /// What was expected.
    var expected: String {
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

    /// What was found, quoting at most one visible ASCII character.
    func found(at p: BytePointer, _ end: BytePointer) -> String {
        switch self {
        case .empty: return "an empty text"
        case .loneSurrogate: return "half of one"
        default: break
        }
        guard p < end else { return "the end of the text" }
        return switch p.pointee {
        case 0x21...0x7E: "'\(Character(Unicode.Scalar(p.pointee)))'"
        case 0x20: "a space"
        default: "byte 0x\(p.pointee < 16 ? "0" : "")\(String(p.pointee, radix: 16, uppercase: true))"
        }
    }
}
