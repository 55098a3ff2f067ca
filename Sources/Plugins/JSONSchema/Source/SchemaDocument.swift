import ErrandEssentials
import ErrandJSONSyntax
import ErrandJSONValidation

/// A JSON document that contains schemas. Each value has an index and its range in the text.
final class SchemaDocument: Sendable {
    enum Kind: Sendable { case null, `false`, `true`, number, string, array, object }

    struct Value: Sendable {
        var kind: Kind
        var start: Int
        var end: Int
        var parent: Int
        /// The range in `children` and `keys`.
        var first = 0
        var count = 0
    }

    /// Absolute and without a fragment, or empty.
    let uri: String
    let bytes: ContiguousArray<UInt8>
    let values: [Value]
    let children: [Int]
    /// Empty keys for elements of arrays.
    let keys: [[UInt8]]
    /// The members of large objects by key.
    private let tables: [Int: [[UInt8]: Int]]

    /// In bytes, for a value and for a key without its characters. Includes spare array capacity.
    private static let bytesOfValue = 100
    private static let bytesOfKey = 80

    /// Returns `nil` if the text exceeds the budget.
    init?(_ data: Data, uri: String, _ budget: inout CompileBudget) throws(JSONValidationError) {
        guard budget.spend(steps: data.count / 16, bytes: data.count) else { return nil }
        var limits = JSONLimits()
        limits.maximumDepth = JSONSchema.maximumDepth
        limits.maximumBytes = .max
        limits.maximumKeys = budget.bytes / Self.bytesOfKey
        limits.maximumProblems = 1
        try JSONShape.any.validate(data, limits: limits)
        self.uri = uri
        let bytes = ContiguousArray(data)
        self.bytes = bytes
        guard let parsed = Self.parse(bytes.span, &budget) else { return nil }
        (values, children, keys) = parsed
        var tables: [Int: [[UInt8]: Int]] = [:]
        for (index, value) in parsed.values.enumerated() where value.kind == .object && value.count > 12 {
            var table: [[UInt8]: Int] = [:]
            for child in value.first..<value.first + value.count { table[parsed.keys[child]] = parsed.children[child] }
            tables[index] = table
        }
        self.tables = tables
    }

    private typealias Parsed = (values: [Value], children: [Int], keys: [[UInt8]])

    private static func parse(_ text: Span<UInt8>, _ budget: inout CompileBudget) -> Parsed? {
        var parsed: Parsed = ([], [], [])
        var p = text.count >= 3 && text[0] == 0xEF ? 3 : 0
        // The last key of an object may not have its value yet.
        var open: [(value: Int, children: [Int], keys: [[UInt8]])] = []
        var key: [UInt8] = []
        while true {
            p = JSONGrammar.skipSpace(in: text, from: p)
            guard p < text.count else { return parsed }
            let byte = text[p]
            if byte == JSONGrammar.comma || byte == JSONGrammar.colon {
                p += 1
                continue
            }
            if byte == JSONGrammar.closeBrace || byte == JSONGrammar.closeBracket {
                guard let closed = open.popLast() else { return parsed }
                p += 1
                parsed.values[closed.value].end = p
                parsed.values[closed.value].first = parsed.children.count
                parsed.values[closed.value].count = closed.children.count
                parsed.children += closed.children
                parsed.keys += closed.keys
                continue
            }
            // Uses an index, because appending to a copy of the element would copy its arrays.
            let innermost = open.count - 1
            if byte == JSONGrammar.quote, innermost >= 0, parsed.values[open[innermost].value].kind == .object,
                open[innermost].keys.count == open[innermost].children.count
            {
                let scan = JSONGrammar.string(in: text, from: p + 1)
                key = JSONContent(p + 1, scan.index - 1).decoded(in: text)
                p = scan.index
                guard budget.spend(steps: 2, bytes: bytesOfKey + key.count) else { return nil }
                open[innermost].keys.append(key)
                continue
            }
            guard budget.spend(steps: 2, bytes: bytesOfValue) else { return nil }
            let index = parsed.values.count
            if innermost >= 0 {
                if open[innermost].keys.count == open[innermost].children.count { open[innermost].keys.append([]) }
                open[innermost].children.append(index)
            }
            let parent = innermost >= 0 ? open[innermost].value : -1
            let (kind, end) = token(in: text, from: p)
            parsed.values.append(Value(kind: kind, start: p, end: end, parent: parent))
            if kind == .object || kind == .array { open.append((index, [], [])) }
            p = end
        }
    }

    /// Returns the kind of the value that starts at `p`, and the end of its first token.
    private static func token(in text: Span<UInt8>, from p: Int) -> (kind: Kind, end: Int) {
        switch text[p] {
        case JSONGrammar.openBrace: (.object, p + 1)
        case JSONGrammar.openBracket: (.array, p + 1)
        case JSONGrammar.quote: (.string, JSONGrammar.string(in: text, from: p + 1).index)
        case UInt8(ascii: "t"): (.true, p + 4)
        case UInt8(ascii: "f"): (.false, p + 5)
        case UInt8(ascii: "n"): (.null, p + 4)
        default: (.number, JSONGrammar.number(in: text, from: p).end.index)
        }
    }

    // MARK: Access

    func member(_ object: Int, _ key: String) -> Int? { member(object, Array(key.utf8)) }

    func member(_ object: Int, _ key: [UInt8]) -> Int? {
        let value = values[object]
        guard value.kind == .object else { return nil }
        if let table = tables[object] { return table[key] }
        for child in value.first..<value.first + value.count where keys[child] == key { return children[child] }
        return nil
    }

    func elements(_ array: Int) -> ArraySlice<Int> {
        children[values[array].first..<values[array].first + values[array].count]
    }

    func members(_ object: Int) -> [(key: [UInt8], value: Int)] {
        let range = values[object].first..<values[object].first + values[object].count
        return range.map { (keys[$0], children[$0]) }
    }

    func text<Result>(_ index: Int, _ body: (Span<UInt8>, Range<Int>) -> Result) -> Result {
        let bytes = bytes
        return body(bytes.span, values[index].start..<values[index].end)
    }

    func stringBytes(_ index: Int) -> [UInt8]? {
        guard values[index].kind == .string else { return nil }
        return text(index) { JSONContent($1.lowerBound + 1, $1.upperBound - 1).decoded(in: $0) }
    }

    func string(_ index: Int) -> String? { stringBytes(index).map { String(decoding: $0, as: UTF8.self) } }

    func data(_ index: Int) -> Data { Data(bytes[values[index].start..<values[index].end]) }

    /// RFC 6901, from the root or an enclosing value.
    func pointer(_ index: Int, from root: Int = 0) -> String {
        var tokens: [String] = []
        var index = index
        while values[index].parent >= 0, index != root {
            let parent = values[index].parent
            let range = values[parent].first..<values[parent].first + values[parent].count
            if let child = childIndex(of: index, in: range) {
                let isObject = values[parent].kind == .object
                tokens.append(isObject ? String(decoding: keys[child], as: UTF8.self) : "\(child - range.lowerBound)")
            }
            index = parent
        }
        return tokens.reversed().reduce("") { JSONPointer.appending($1, to: $0) }
    }

    /// Children are in the order of the text.
    private func childIndex(of index: Int, in range: Range<Int>) -> Int? {
        var (first, last) = (range.lowerBound, range.upperBound)
        while first < last {
            let middle = (first + last) / 2
            if children[middle] < index { first = middle + 1 } else { last = middle }
        }
        return first < range.upperBound && children[first] == index ? first : nil
    }

    func find(_ pointer: [UInt8], from start: Int) -> Int? {
        if pointer.isEmpty { return start }
        guard pointer[0] == 0x2F else { return nil }
        var value = start
        for token in pointer.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false) {
            guard let key = Self.unescaped(token) else { return nil }
            switch values[value].kind {
            case .object:
                guard let next = member(value, key) else { return nil }
                value = next
            case .array:
                let isIndex =
                    !key.isEmpty && key.count < 10 && key.allSatisfy(JSONGrammar.isDigit)
                    && (key.count == 1 || key[0] != 0x30)
                guard isIndex, let index = Int(String(decoding: key, as: UTF8.self)), index < values[value].count
                else { return nil }
                value = children[values[value].first + index]
            default: return nil
            }
        }
        return value
    }

    private static func unescaped(_ token: ArraySlice<UInt8>) -> [UInt8]? {
        guard token.contains(0x7E) else { return Array(token) }
        var (key, rest) = ([UInt8](), token)
        while let byte = rest.popFirst() {
            if byte != 0x7E {
                key.append(byte)
                continue
            }
            switch rest.popFirst() {
            case 0x30: key.append(0x7E)
            case 0x31: key.append(0x2F)
            default: return nil
            }
        }
        return key
    }
}

/// A schema with its own URI, and its anchors.
struct SchemaResource {
    var uri: String
    var root: SchemaLocation
    var vocabulary: SchemaVocabulary
    var anchors: [String: SchemaLocation] = [:]
    var dynamicAnchors: [String: SchemaLocation] = [:]
}

struct SchemaLocation: Hashable, Sendable {
    var document: Int
    var value: Int
}
