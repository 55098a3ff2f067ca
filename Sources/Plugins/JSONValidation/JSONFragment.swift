public import ErrandEssentials

/// A value as it stands in the text, for a check of one's own; it is valid JSON.
public struct JSONFragment: Sendable {
    /// Its bytes, without white space around it.
    public let data: Data

    /// The number, if it is one without a fraction that an `Int` can hold.
    public var integer: Int? { number { $0.integer } }

    /// The number, if it is one; infinite if it is too large for a `Double`.
    public var double: Double? { number { $0.double } }

    /// The boolean, if it is one.
    public var boolean: Bool? {
        switch data.first {
        case 0x74: true
        case 0x66: false
        default: nil
        }
    }

    /// The string, escapes resolved, if it is one.
    public var string: String? {
        guard data.first == Lexer.quote else { return nil }
        return withBytes { JSONText(start: $0 + 1, end: $1 - 1).string() }
    }

    /// Whether it is null.
    public var isNull: Bool { data.first == 0x6E }

    /// Any value as a `Decodable` type; throws what the decoder throws.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()) throws
        -> Value
    {
        try decoder.decode(type, from: data)
    }

    private func number<Value>(_ read: (JSONNumber) -> Value?) -> Value? {
        guard let byte = data.first, byte == 0x2D || Lexer.isDigit(byte) else { return nil }
        return withBytes { read(JSONNumber(start: $0, end: $1)) } ?? nil
    }

    private func withBytes<Value>(_ body: (BytePointer, BytePointer) -> Value) -> Value? {
        data.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: UInt8.self) { text in text.baseAddress.map { body($0, $0 + text.count) } }
        }
    }
}
