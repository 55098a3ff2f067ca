/// One problem of a JSON text. It contains no values of the text, only keys and kinds.
public struct JSONProblem: Sendable, Hashable {
    /// The kind of a problem. Cases may be added: write a `default`.
    public enum Kind: Sendable, Hashable {
        /// The text is not JSON; nothing after the position was read.
        case syntax
        /// The value has another type.
        case type
        /// The value has the right type but violates a range, a length, a count, a pattern or constants.
        case value
        /// A required key is missing.
        case missing
        /// A closed object has a key that its shape does not name.
        case unexpectedKey
        /// An object has a key twice, with or without escapes.
        case duplicateKey
        /// The text exceeds ``JSONLimits``; nothing after the position was read. Also a string that is too long, or takes
        /// too many steps, for its pattern; the text after that one was read.
        case limit
        /// The shape itself cannot be used with any text: it is too deep, or a pattern in it is not supported.
        case shape
    }

    /// The kind of the problem.
    public var kind: Kind
    /// The position as a JSON Pointer (RFC 6901), such as `/3/name`; for a missing key the position where it is expected.
    /// Empty for the whole document. Truncated with `…` after about a kilobyte.
    public var pointer: String
    /// The expected value: "a string".
    public var expected: String
    /// The found value: "a number". Never the value itself.
    public var found: String
    /// The offset in bytes of the value, of the opening quote of a key, or, for a missing key, of the object's brace.
    public var offset: Int
    /// The location of the keyword of a `JSONSchema` that the value violates: the URI of its document with a JSON Pointer
    /// as the fragment, such as `#/properties/id/minimum`. Nil for shapes, and for what is not JSON.
    public var schemaLocation: String?

    /// Makes a problem.
    public init(
        kind: Kind, pointer: String, expected: String, found: String, offset: Int, schemaLocation: String? = nil
    ) {
        self.kind = kind
        self.pointer = pointer
        self.expected = expected
        self.found = found
        self.offset = offset
        self.schemaLocation = schemaLocation
    }
}

extension JSONProblem: CustomStringConvertible {
    /// `/3/name: expected a string, found a number (byte 214)`, or `/7/tags: missing, expected an array`; behind it the
    /// location in the schema, if there is one.
    public var description: String {
        schemaLocation.map { "\(message), by \(MessageText.shown($0, limit: 1_200))" } ?? message
    }

    private var message: String {
        let place = pointer.isEmpty ? "document" : MessageText.shown(pointer, limit: 1_200)
        return switch kind {
        case .missing: "\(place): missing, expected \(expected)"
        case .unexpectedKey: "\(place): unexpected key (byte \(offset))"
        case .duplicateKey: "\(place): duplicate key (byte \(offset))"
        case .syntax: "\(place): not JSON: expected \(expected), found \(found) (byte \(offset))"
        case .shape: "the shape cannot be used: expected \(expected), found \(found)"
        default: "\(place): expected \(expected), found \(found) (byte \(offset))"
        }
    }
}
