public import ErrandEssentials
import ErrandJSONSyntax

/// The JSON text of one value, for a custom check.
public struct JSONFragment: Sendable {
    /// The bytes of the value, without surrounding white space.
    public let data: Data

    package init(data: Data) { self.data = data }

    /// The value as an integer; nil if it is not a number, has a fraction, or exceeds `Int`.
    public var integer: Int? { number { JSONNumber.integer(in: $0, 0..<$0.count) } }

    /// The value as a number; nil if it is not a number. Infinite if it exceeds `Double`.
    public var double: Double? { number { JSONNumber.double(in: $0, 0..<$0.count) } }

    /// The value as a boolean; nil if it is not one.
    public var boolean: Bool? {
        switch data.first {
        case 0x74: true
        case 0x66: false
        default: nil
        }
    }

    /// The value as a string, with escapes resolved; nil if it is not a string.
    public var string: String? {
        guard data.first == JSONGrammar.quote else { return nil }
        return data.withSpan { JSONContent(1, $0.count - 1).string(in: $0) }
    }

    /// Whether the value is null.
    public var isNull: Bool { data.first == 0x6E }

    /// Decodes the value; throws the error of the decoder.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()) throws
        -> Value
    {
        try decoder.decode(type, from: data)
    }

    private func number<Value>(_ read: (Span<UInt8>) -> Value?) -> Value? {
        guard let byte = data.first, byte == 0x2D || JSONGrammar.isDigit(byte) else { return nil }
        return data.withSpan(read)
    }
}
