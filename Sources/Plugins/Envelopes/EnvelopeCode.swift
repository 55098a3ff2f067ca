import ErrandEssentials

/// The code with which a service reports a request's outcome: a number, or a text such as `"A0401"`.
///
/// ```swift
/// let code = EnvelopeCode("0000")
/// let isSuccess = code == 0 || code == "SUCCESS"
/// ```
///
/// Services write the same code in different ways: `0`, `"0"`, `"0000"` and `0.0` are equal. A Boolean counts as 1 or
/// 0.
public struct EnvelopeCode: Sendable, Hashable {
    private enum Form: Hashable {
        case number(Int64)
        case text(String)
    }

    private let form: Form

    /// Creates a code from a number.
    public init(_ number: some BinaryInteger) { form = Int64(exactly: number).map(Form.number) ?? .text("\(number)") }

    /// Creates a code from a text. If the text is a number, so is the code.
    public init(_ text: String) { form = Int64(text).map(Form.number) ?? .text(text) }

    /// The code as a number, or `nil` if it is a text or exceeds `Int`.
    public var number: Int? {
        if case .number(let number) = form { return Int(exactly: number) }
        return nil
    }
}

extension EnvelopeCode: CustomStringConvertible, LosslessStringConvertible {
    /// The number or the text.
    public var description: String {
        switch form {
        case .number(let number): "\(number)"
        case .text(let text): text
        }
    }
}

extension EnvelopeCode: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// Creates a code from a number.
    public init(integerLiteral value: Int64) { form = .number(value) }
    /// Creates a code from a text. If the text is a number, so is the code.
    public init(stringLiteral value: String) { self.init(value) }
}

extension EnvelopeCode: Codable {
    /// Decodes a number, a string or a Boolean. Throws the decoder's error for other values.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // As an `Int64` or `Double`, a long number would lose digits.
        if let number = try? container.decode(Decimal.self) {
            self.init("\(number)")
        } else if let text = try? container.decode(String.self) {
            self.init(text)
        } else {
            self.init(try container.decode(Bool.self) ? 1 : 0)
        }
    }

    /// Encodes a number or a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch form {
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        }
    }
}
