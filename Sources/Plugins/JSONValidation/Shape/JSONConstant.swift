/// A scalar that a value must equal: `"draft"`, `3`, `0.5`, `true`, `nil`.
public enum JSONConstant: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number without a fraction.
    case integer(Int)
    /// Any number.
    case number(Double)
    /// A string.
    case string(String)
}

extension JSONConstant: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates null.
    public init(nilLiteral: ()) { self = .null }
}

extension JSONConstant: CustomStringConvertible {
    /// The constant as JSON, for messages. Long strings are shortened.
    public var description: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): "\"\(MessageText.shown(value, limit: 60))\""
        }
    }
}
