/// One thing that is wrong with a JSON text. Holds no value from the text, only keys and kinds.
public struct JSONProblem: Sendable, Hashable {
    /// What sort of problem it is. Cases may be added: write a `default`.
    public enum Kind: Sendable, Hashable {
        /// The text is no JSON; nothing behind the place was read.
        case syntax
        /// The value is of another type.
        case type
        /// The value is of the right type but not what it should be: its range, length, count, pattern, constants.
        case value
        /// A required key is not there.
        case missing
        /// A closed object has a key that its shape does not name.
        case unexpectedKey
        /// An object has a key twice, also when it is written with escapes.
        case duplicateKey
        /// The text is longer, deeper or fuller than ``JSONLimits`` allow; nothing behind the place was read. Also a
        /// string that is too long, or takes too many steps, for its pattern; what is behind that one was read.
        case limit
        /// The shape itself cannot be used, whatever the text: it is too deep, or a pattern in it is not supported.
        case shape
    }

    /// What sort of problem it is.
    public var kind: Kind
    /// Where: a JSON Pointer (RFC 6901), such as `/3/name`, for a missing key to where it should be. Empty for the whole
    /// document. Cut and ended by `…` beyond about a kilobyte.
    public var pointer: String
    /// What should be there: "a string".
    public var expected: String
    /// What is there: "a number". Never the value itself.
    public var found: String
    /// Bytes from the start of the text to the value, for a key to its quote, for a missing key to the object's brace.
    public var offset: Int

    public init(kind: Kind, pointer: String, expected: String, found: String, offset: Int) {
        self.kind = kind
        self.pointer = pointer
        self.expected = expected
        self.found = found
        self.offset = offset
    }
}

extension JSONProblem: CustomStringConvertible {
    /// `/3/name: expected a string, found a number (byte 214)`, or `/7/tags: missing, expected an array`
    public var description: String {
        let place = pointer.isEmpty ? "document" : MessageText.shown(pointer, limit: 1_200)
        return switch kind {
        case .missing: "\(place): missing, expected \(expected)"
        case .unexpectedKey: "\(place): unexpected key (byte \(offset))"
        case .duplicateKey: "\(place): key comes twice (byte \(offset))"
        case .syntax: "\(place): not JSON: expected \(expected), found \(found) (byte \(offset))"
        case .shape: "the shape cannot be used: expected \(expected), found \(found)"
        default: "\(place): expected \(expected), found \(found) (byte \(offset))"
        }
    }
}
