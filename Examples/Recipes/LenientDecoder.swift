import Errand
import Foundation

/// Reads JSON from lenient services: numbers as strings and strings as numbers, null or a missing value for a list, a
/// single value for a list of one, `[]` for an empty object, `""` for an optional number.
///
///     agent.configure { $0.decoder = LenientDecoder() }
///
/// Models don't change. A missing value is still an error, unless it's a list. So is a text that isn't a number.
struct LenientDecoder: BodyDecoder {
    var contentTypes: ContentTypes { .json }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let value = try JSONDecoder().decode(LenientValue.self, from: data)
        return try LenientReader(value: value, codingPath: []).decode(type)
    }
}

/// A JSON value.
nonisolated enum LenientValue: Decodable {
    case null
    case boolean(Bool)
    /// A number with all its digits.
    case number(Decimal)
    /// A number beyond the range of `Decimal`.
    case outsized(Double)
    case text(String)
    case list([LenientValue])
    case object([String: LenientValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Decimal.self) {
            self = .number(value)
        } else if let value = try? container.decode(Double.self) {
            self = .outsized(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode([LenientValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: LenientValue].self))
        }
    }

    /// The text of a string, number or Boolean, or nil for anything else.
    var text: String? {
        switch self {
        case .text(let text): text
        case .number(let number): "\(number)"
        case .outsized(let number): "\(number)"
        case .boolean(let value): "\(value)"
        default: nil
        }
    }

    /// The text of a number, or of a string that contains only a number. A Boolean is 1 or 0.
    var digits: String? {
        if case .boolean(let value) = self { return value ? "1" : "0" }
        guard let text, text.utf8.allSatisfy("0123456789+-.eE".utf8.contains), Double(text) != nil else { return nil }
        return text
    }
}

/// A type that can be read from a JSON value in several forms.
nonisolated protocol LenientScalar {
    init?(_ value: LenientValue)
}

nonisolated extension String: LenientScalar {
    init?(_ value: LenientValue) {
        guard let text = value.text else { return nil }
        self = text
    }
}

nonisolated extension Bool: LenientScalar {
    init?(_ value: LenientValue) {
        switch value.text?.lowercased() {
        case "true", "1", "yes": self = true
        case "false", "0", "no", "": self = false
        default: return nil
        }
    }
}

nonisolated extension LenientScalar where Self: FixedWidthInteger {
    init?(_ value: LenientValue) {
        // A `Double` would round long numbers.
        guard let digits = value.digits, let number = Self(digits) ?? Decimal(value).flatMap({ Self("\($0)") }) else {
            return nil
        }
        self = number
    }
}

nonisolated extension Int: LenientScalar {}
nonisolated extension Int8: LenientScalar {}
nonisolated extension Int16: LenientScalar {}
nonisolated extension Int32: LenientScalar {}
nonisolated extension Int64: LenientScalar {}
nonisolated extension UInt: LenientScalar {}
nonisolated extension UInt8: LenientScalar {}
nonisolated extension UInt16: LenientScalar {}
nonisolated extension UInt32: LenientScalar {}
nonisolated extension UInt64: LenientScalar {}

nonisolated extension Double: LenientScalar {
    init?(_ value: LenientValue) {
        guard let digits = value.digits, let number = Double(digits) else { return nil }
        self = number
    }
}

nonisolated extension Float: LenientScalar {
    init?(_ value: LenientValue) {
        guard let number = Double(value) else { return nil }
        self = Float(number)
    }
}

nonisolated extension Decimal: LenientScalar {
    init?(_ value: LenientValue) {
        guard let digits = value.digits, let number = Decimal(string: digits) else { return nil }
        self = number
    }
}

nonisolated extension URL: LenientScalar {
    init?(_ value: LenientValue) {
        guard case .text(let text) = value else { return nil }
        self.init(string: text)
    }
}

nonisolated extension Date: LenientScalar {
    /// Accepts seconds since 1970, or ISO 8601 text.
    init?(_ value: LenientValue) {
        if case .boolean = value { return nil }
        if let seconds = Double(value) {
            self.init(timeIntervalSince1970: seconds)
        } else if let date = value.text.flatMap({ try? Date($0, strategy: .iso8601) }) {
            self = date
        } else {
            return nil
        }
    }
}
