public import ErrandEssentials
import ErrandJSONSyntax

/// The JSON text of a single value, for custom checks.
public struct JSONFragment: Sendable {
    /// The value's bytes in UTF-8, without surrounding whitespace.
    public let data: Data

    package init(data: Data) { self.data = data }

    /// The value as an integer, or `nil` if it isn't an integer or doesn't fit in `Int`.
    public var integer: Int? { number { $0.integer } }

    /// The value as a number, or `nil` if it isn't a number. Infinity if the number exceeds the range of `Double`.
    public var double: Double? { number { $0.double } }

    /// The value as a Boolean, or `nil` if it isn't `true` or `false`.
    public var boolean: Bool? {
        switch data.first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// The value as a string with escapes resolved, or `nil` if it isn't a string.
    public var string: String? {
        guard data.first == JSONGrammar.quote else { return nil }
        return JSONContent(1, data.count - 1).string(in: data.span)
    }

    /// Whether the value is `null`.
    public var isNull: Bool { data.first == UInt8(ascii: "n") }

    /// Decodes the value. Throws the decoder's error.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()) throws
        -> Value
    {
        try decoder.decode(type, from: data)
    }

    private func number<Value>(_ read: (JSONNumber) -> Value?) -> Value? {
        guard let byte = data.first, byte == UInt8(ascii: "-") || JSONGrammar.isDigit(byte) else { return nil }
        return read(JSONNumber(data.span))
    }
}
