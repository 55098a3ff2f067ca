/// A JSON value for the tests, used in generated schemas and documents and read by the oracle.
indirect enum SchemaTree: Equatable {
    case null
    case boolean(Bool)
    /// In thousandths, which keeps arithmetic exact.
    case number(Int)
    case string(String)
    case array([SchemaTree])
    case object([Member])

    struct Member: Equatable {
        var key: String
        var value: SchemaTree
    }

    subscript(_ key: String) -> SchemaTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { Self.same($0.key, key) }?.value
    }

    /// Compares strings by Unicode scalars, without normalization.
    static func same(_ a: String, _ b: String) -> Bool { a.unicodeScalars.elementsEqual(b.unicodeScalars) }

    /// Equality as JSON Schema defines it.
    func equals(_ other: SchemaTree) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.string(let a), .string(let b)): Self.same(a, b)
        case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy { $0.equals($1) }
        case (.object(let a), .object(let b)):
            a.count == b.count && a.allSatisfy { member in other[member.key]?.equals(member.value) ?? false }
        default: false
        }
    }

    var members: [Member] {
        if case .object(let members) = self { return members }
        return []
    }

    var elements: [SchemaTree] {
        if case .array(let elements) = self { return elements }
        return []
    }

    var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    var integer: Int? {
        if case .number(let value) = self { return value / 1_000 }
        return nil
    }

    var isTrue: Bool { self == .boolean(true) }

    /// Returns the value as JSON, in one of several spellings.
    func rendered(_ random: inout SeededGenerator) -> String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let value): Self.number(value, &random)
        case .string(let value): Self.quoted(value, &random)
        case .array(let elements):
            "[" + elements.map { $0.rendered(&random) }.joined(separator: random.chance(4) ? ", " : ",") + "]"
        case .object(let members):
            "{"
                + members.map { "\(Self.quoted($0.key, &random)):\($0.value.rendered(&random))" }
                .joined(separator: ",") + "}"
        }
    }

    private static func number(_ value: Int, _ random: inout SeededGenerator) -> String {
        let sign = value < 0 ? "-" : ""
        let (whole, part) = (abs(value) / 1_000, abs(value) % 1_000)
        if random.chance(4) { return "\(value)e-3" }
        if value != 0, random.chance(6) { return "\(value)000E-6" }
        if part == 0 { return random.chance(3) ? "\(sign)\(whole).0" : "\(sign)\(whole)" }
        return "\(sign)\(whole).\(String(1_000 + part).dropFirst())"
    }

    private static func quoted(_ text: String, _ random: inout SeededGenerator) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\\" {
                quoted += "\\\\"
            } else if random.chance(8), scalar.value < 0x10000 {
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
