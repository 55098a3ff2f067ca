/// A scalar that a value must equal: `"draft"`, `3`, `0.5`, `true`, `nil`.
public enum JSONConstant: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// An integer.
    case integer(Int)
    /// A number, with or without a fraction.
    case number(Double)
    /// A string.
    case string(String)
}

extension JSONConstant: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// Creates a string constant.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer constant.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// Creates a number constant.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a Boolean constant.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates the constant ``null``.
    public init(nilLiteral: ()) { self = .null }
}

extension JSONConstant: CustomStringConvertible {
    /// The constant as JSON, for messages. Long strings are truncated.
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
