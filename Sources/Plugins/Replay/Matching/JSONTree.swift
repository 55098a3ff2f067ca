import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

indirect enum JSONTree: Sendable, Equatable {
    case object([JSONName: JSONTree])
    case array([JSONTree])
    case string(String)
    case word(String)

    private static let depthLimit = 64

    init?(_ bytes: [UInt8]) {
        guard let first = bytes.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return nil }
        var reader = JSONReader(HARSource(Data(bytes)))
        guard let tree = try? Self.read(&reader, depth: 0), (try? reader.space()) == .some(nil) else { return nil }
        self = tree
    }

    private static func read(_ reader: inout JSONReader, depth: Int) throws(HARError) -> JSONTree {
        guard depth < depthLimit else { throw reader.fault(.tooLarge, "values are nested too deeply") }
        switch try reader.space() {
        case UInt8(ascii: "{"):
            var members: [JSONName: JSONTree] = [:]
            try reader.object(nameLimit: .max) { (reader, name) throws(HARError) in
                members[JSONName(text: name)] = try read(&reader, depth: depth + 1)
            }
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONTree] = []
            try reader.array { (reader, _) throws(HARError) in elements.append(try read(&reader, depth: depth + 1)) }
            return .array(elements)
        case UInt8(ascii: "\""): return .string(try reader.string(limit: .max) ?? "")
        default: return .word(JSONNumberText.normal(try reader.word()))
        }
    }

    /// Returns a JSON Pointer to the first difference between this value and another value. A mask in this value
    /// matches any value.
    func difference(from other: JSONTree) -> String? {
        path(to: other).map { path in
            path.reversed().map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
        }
    }

    private func path(to other: JSONTree) -> [String]? {
        if case .string(Redaction.mask) = self { return nil }
        switch (self, other) {
        case (.object(let mine), .object(let its)):
            for name in Set(mine.keys).union(its.keys).sorted() {
                guard let a = mine[name], let b = its[name] else { return [name.text] }
                if let found = a.path(to: b) { return found + [name.text] }
            }
            return nil
        case (.array(let mine), .array(let its)):
            for (index, pair) in zip(mine, its).enumerated() {
                if let found = pair.0.path(to: pair.1) { return found + ["\(index)"] }
            }
            return mine.count == its.count ? nil : ["\(min(mine.count, its.count))"]
        case (.string(let mine), .string(let its)): return MaskedText.matches(mine, its) ? nil : []
        default: return self == other ? nil : []
        }
    }

    func write(into result: inout String) {
        switch self {
        case .object(let members):
            result += "{"
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                result += "\(name.text.debugDescription):"
                value.write(into: &result)
                result += ","
            }
            result += "}"
        case .array(let elements):
            result += "["
            for element in elements {
                element.write(into: &result)
                result += ","
            }
            result += "]"
        case .string(let text): result += text.debugDescription
        case .word(let text): result += text
        }
    }
}

/// The name of a member. Names are compared by their bytes (RFC 8259, section 8.3), without Unicode's canonical
/// equivalence.
struct JSONName: Sendable, Hashable, Comparable {
    let text: String

    static func == (a: JSONName, b: JSONName) -> Bool { a.text.hasSameBytes(as: b.text) }
    static func < (a: JSONName, b: JSONName) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
}

/// Converts JSON numbers (RFC 8259, section 6) to a normal form without losing digits. Equal numbers, such as `1`,
/// `1.0` and `10e-1`, have the same text.
enum JSONNumberText {
    /// Returns a number's normal form, such as `1e0`: the digits without outer zeros, and the power of ten of the last
    /// digit. If the text isn't a number, or its exponent has more than 15 digits, returns the text unchanged.
    static func normal(_ text: String) -> String {
        var rest = Array(text.utf8)[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        let whole = rest.prefix(while: ASCII.isDigit)
        rest = rest.dropFirst(whole.count)
        guard !whole.isEmpty else { return text }
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: ASCII.isDigit)
            rest = rest.dropFirst(1 + fraction.count)
        }
        let digits = (whole + fraction).drop { $0 == UInt8(ascii: "0") }
        let zeros = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        guard let exponent = exponent(rest, isZero: digits.isEmpty) else { return text }
        if digits.isEmpty { return "0" }
        let power = exponent - Int64(fraction.count) + Int64(zeros)
        return (isNegative ? "-" : "") + String(decoding: digits.dropLast(zeros), as: UTF8.self) + "e\(power)"
    }

    /// Returns the exponent, or nil if the exponent is invalid or has more than 15 digits. If the number is zero, any
    /// exponent is accepted.
    private static func exponent(_ text: ArraySlice<UInt8>, isZero: Bool) -> Int64? {
        guard let mark = text.first else { return 0 }
        guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return nil }
        var digits = text.dropFirst()
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        digits = digits.drop { $0 == UInt8(ascii: "0") }
        if isZero { return 0 }
        guard digits.count <= 15 else { return nil }
        let value = digits.reduce(into: Int64(0)) { $0 = $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        return isNegative ? -value : value
    }
}
