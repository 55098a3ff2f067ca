import Errand
import ErrandEssentials
import ErrandSupport

/// A JSON value, for the comparison of bodies.
indirect enum JSONTree: Sendable, Equatable {
    case object([JSONName: JSONTree])
    case array([JSONTree])
    case string(String)
    /// `true`, `false` or `null` as it is written, or a number in one form for each value.
    case word(String)

    private static let depthLimit = 64

    /// Nil for text that is no JSON, or nested too deep.
    init?(_ bytes: [UInt8]) {
        guard let first = bytes.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return nil }
        var reader = JSONReader(HARSource(Data(bytes)))
        guard let tree = try? Self.read(&reader, depth: 0), (try? reader.space()) == .some(nil) else { return nil }
        self = tree
    }

    private static func read(_ reader: inout JSONReader, depth: Int) throws(HARError) -> JSONTree {
        guard depth < depthLimit else { throw reader.fault(.tooLarge, "the values are nested too deep") }
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

    /// The position at which another value differs from this one, in which masks match anything: a JSON Pointer; nil if
    /// it is equal.
    func difference(from other: JSONTree) -> String? {
        path(to: other).map { path in
            path.reversed().map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
        }
    }

    /// The names and indices that lead to the difference, the innermost first, so that only these are written.
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

    /// The value in one form, independent of the order of names.
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

/// The name of a member, compared byte by byte (RFC 8259, section 8.3): Unicode's canonical equivalence does not apply.
struct JSONName: Sendable, Hashable, Comparable {
    let text: String

    static func == (a: JSONName, b: JSONName) -> Bool { a.text.hasSameBytes(as: b.text) }
    static func < (a: JSONName, b: JSONName) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
}
