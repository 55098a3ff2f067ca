import ErrandEssentials

/// The code with which a service says how a request went: a number, or a text such as `"A0401"`.
///
/// ```swift
/// let code = EnvelopeCode("0000")
/// let isSuccess = code == 0 || code == "SUCCESS"
/// ```
///
/// Services write one code in several ways: `0`, `"0"`, `"0000"` and `0.0` are equal. A Boolean is 1 or 0.
public struct EnvelopeCode: Sendable, Hashable {
    private enum Form: Hashable {
        case number(Int64)
        case text(String)
    }

    private let form: Form

    /// A code that is a number.
    public init(_ number: some BinaryInteger) { form = Int64(exactly: number).map(Form.number) ?? .text("\(number)") }

    /// A code that is a text; a number if its text is one.
    public init(_ text: String) { form = Int64(text).map(Form.number) ?? .text(text) }

    /// The number; nil for a text, and for a number beyond `Int`.
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
    /// A code that is a number.
    public init(integerLiteral value: Int64) { form = .number(value) }
    /// A code that is a text; a number if its text is one.
    public init(stringLiteral value: String) { self.init(value) }
}

extension EnvelopeCode: Codable {
    /// Decodes a number, a string or a Boolean. Throws the error of the decoder for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Decoded as an `Int64` or a `Double`, a long number would lose digits.
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
