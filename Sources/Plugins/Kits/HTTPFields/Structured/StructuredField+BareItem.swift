public import ErrandEssentials

extension StructuredField {
    /// A value of one of the eight types (RFC 9651, section 3.3).
    public enum BareItem: Sendable, Hashable {
        /// At most 15 digits.
        case integer(Int64)
        /// At most 12 digits before the point and three behind it.
        case decimal(Decimal)
        /// Printable ASCII.
        case string(String)
        /// A letter or `*`, then token characters, `:` and `/`.
        case token(String)
        /// Bytes, in base64 on the wire.
        case bytes(Data)
        /// `?1` or `?0`.
        case boolean(Bool)
        /// Seconds since 1970.
        case date(Int64)
        /// Unicode text, percent-encoded on the wire.
        case displayString(String)

        /// The number of an integer; nil for another type.
        public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
        /// The number of an integer or a decimal; nil for another type.
        public var number: Double? {
            switch self {
            case .integer(let value): Double(value)
            case .decimal(let value): value.doubleValue
            default: nil
            }
        }
        /// The text of a string, a token or a display string; nil for another type.
        public var text: String? {
            switch self {
            case .string(let text), .token(let text), .displayString(let text): text
            default: nil
            }
        }
        /// The bytes of a byte sequence; nil for another type.
        public var bytes: Data? { if case .bytes(let value) = self { value } else { nil } }
        /// The value of a boolean; nil for another type.
        public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
        /// The moment of a date; nil for another type.
        public var date: Date? {
            if case .date(let seconds) = self { Date(timeIntervalSince1970: Double(seconds)) } else { nil }
        }

        /// The item as it stands in a field (section 4.1.3.1). Throws ``SerializationError``.
        public func serialized() throws(SerializationError) -> String { try StructuredSerializer.bareItem(self) }
    }

    /// A decimal number with three digits behind the point, exactly.
    public struct Decimal: Sendable, Hashable, CustomStringConvertible {
        /// The number times a thousand.
        public let thousandths: Int64

        /// Makes a number of thousandths.
        public init(thousandths: Int64) { self.thousandths = thousandths }

        /// The nearest number with three digits behind the point, half to even (section 4.1.5); nil for one that is not
        /// finite or has more than 12 digits before the point.
        public init?(_ value: Double) {
            let scaled = (value * 1000).rounded(.toNearestOrEven)
            guard scaled.isFinite, abs(scaled) < 1e15 else { return nil }
            thousandths = Int64(scaled)
        }

        /// The nearest floating-point number.
        public var doubleValue: Double { Double(thousandths) / 1000 }

        /// With at least one digit behind the point: "0.5", "-12.125", "3.0".
        public var description: String {
            let magnitude = thousandths.magnitude
            var fraction = String(1000 + magnitude % 1000).dropFirst()
            while fraction.utf8.count > 1, fraction.last == "0" { fraction = fraction.dropLast() }
            return "\(thousandths < 0 ? "-" : "")\(magnitude / 1000).\(fraction)"
        }
    }
}

extension StructuredField.BareItem: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A decimal, rounded to three digits behind the point; one out of range becomes the nearest in range.
    public init(floatLiteral value: Double) {
        let limit: Int64 = 999_999_999_999_999
        self = .decimal(.init(value) ?? .init(thousandths: value < 0 ? -limit : limit))
    }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
