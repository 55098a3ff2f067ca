public import ErrandEssentials

/// The names and values for a query, a form or a JSON object, written as a literal.
///
/// ```swift
/// var parameters: Parameters? { ["q": text, "page": page, "tags": ["a", "b"], "user": ["id": 7]] }
/// ```
public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The items, in order. Names may repeat.
    public var items: [Item]

    /// One parameter: a name and its value.
    public struct Item: Sendable, Hashable {
        /// The name, before percent-encoding.
        public var name: String
        /// The value.
        public var value: ParameterValue
        /// Creates a parameter.
        public init(_ name: String, _ value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    /// Creates parameters from items. Defaults to no items.
    public init(_ items: [Item] = []) { self.items = items }
    /// Creates parameters in the literal's order. A `nil` value omits its name.
    public init(dictionaryLiteral elements: (String, any ParameterConvertible)...) {
        items = elements.compactMap { name, value in value.parameterValue.map { Item(name, $0) } }
    }

    /// Creates parameters from a value's properties, as `JSONEncoder` writes them: sorted by name, with all digits of
    /// numbers. If the value can't be encoded or isn't an object, the request throws
    /// ``ErrandError/Code/encodingFailed`` and isn't sent.
    ///
    /// ```swift
    /// nonisolated struct Filter: Encodable, Sendable { var text = "swift", page = 2 }
    /// var query: Parameters { Parameters(encoding: filter) }        // page=2&text=swift
    /// ```
    public init(encoding value: some Encodable, encoder: JSONEncoder? = nil) {
        do {
            let data = try (encoder ?? JSONEncoder()).encode(value)
            var reader = ParameterReader(data)
            items = try reader.members().sorted { $0.key < $1.key }.map { Item($0.key, $0.value) }
        } catch {
            items = []
            fault = "\(type(of: value)) can't be encoded as parameters: it must encode as an object with keys"
        }
    }

    private(set) var fault: String?

    /// Whether there are no parameters.
    public var isEmpty: Bool { items.isEmpty }

    /// The first value of a name. Setting a value replaces all values of the name. Setting `nil` removes them.
    public subscript(name: String) -> ParameterValue? {
        get { items.first { $0.name == name }?.value }
        set {
            let first = items.firstIndex { $0.name == name } ?? items.endIndex
            items.removeAll { $0.name == name }
            if let newValue { items.insert(Item(name, newValue), at: first) }
        }
    }

    /// Adds a parameter at the end, unless the value is `nil`.
    public mutating func append(_ name: String, _ value: some ParameterConvertible) {
        if let value = value.parameterValue { items.append(Item(name, value)) }
    }
}

/// Reads JSON into parameters. Keeps each number's text, because decoding to `Double` would lose digits.
struct ParameterReader {
    struct Malformed: Error {}

    private static let maximumDepth = 512
    private let bytes: [UInt8]
    private var position = 0

    init(_ json: Data) { bytes = Array(json) }

    mutating func members() throws -> [String: ParameterValue] {
        guard case .object(let members) = try value(depth: 0) else { throw Malformed() }
        return members
    }

    private mutating func value(depth: Int) throws -> ParameterValue {
        guard depth < Self.maximumDepth, let first = peek() else { throw Malformed() }
        switch first {
        case UInt8(ascii: "{"):
            var members: [String: ParameterValue] = [:]
            try list(until: "}") { reader in
                let name = try reader.string()
                guard reader.skip(":") else { throw Malformed() }
                members[name] = try reader.value(depth: depth + 1)
            }
            return .object(members)
        case UInt8(ascii: "["):
            var values: [ParameterValue] = []
            try list(until: "]") { values.append(try $0.value(depth: depth + 1)) }
            return .array(values)
        case UInt8(ascii: "\""): return .string(try string())
        default:
            let word = bytes[position...].prefix { !Self.ends.contains($0) }
            position += word.count
            return try Self.scalar(String(decoding: word, as: UTF8.self))
        }
    }

    private mutating func list(until close: Unicode.Scalar, _ item: (inout Self) throws -> Void) throws {
        position += 1
        if skip(close) { return }
        repeat { try item(&self) } while skip(",")
        guard skip(close) else { throw Malformed() }
    }

    private mutating func string() throws -> String {
        guard peek() == UInt8(ascii: "\"") else { throw Malformed() }
        let start = position
        position += 1
        var hasEscapes = false
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            let isEscape = bytes[position] == UInt8(ascii: "\\")
            hasEscapes = hasEscapes || isEscape
            position += isEscape ? 2 : 1
        }
        guard position < bytes.count else { throw Malformed() }
        position += 1
        if hasEscapes { return try JSONDecoder().decode(String.self, from: Data(bytes[start..<position])) }
        return String(decoding: bytes[(start + 1)..<(position - 1)], as: UTF8.self)
    }

    private static func scalar(_ word: String) throws -> ParameterValue {
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "null": return .null
        default: break
        }
        if let whole = Int64(word) { return .integer(whole) }
        guard let number = Double(word) else { throw Malformed() }
        // A `Double` prints the shortest text that identifies it. Another text may have more digits.
        if "\(number)" != word, let exact = Decimal(string: word), "\(exact)" == word { return .decimal(exact) }
        return .number(number)
    }

    private mutating func peek() -> UInt8? {
        while position < bytes.count, Self.spaces.contains(bytes[position]) { position += 1 }
        return position < bytes.count ? bytes[position] : nil
    }

    private mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: mark) else { return false }
        position += 1
        return true
    }

    private static let spaces = Array(" \t\r\n".utf8)
    private static let ends = Array(",]} \t\r\n".utf8)
}

/// Where a request sends its parameters.
public enum ParameterPlacement: Sendable, Hashable {
    /// Sends the parameters in the query for GET, HEAD and DELETE, and if the request has its own body. Otherwise,
    /// sends them in a form. The default.
    case automatic
    /// Sends the parameters in the URL's query.
    case query
    /// Sends the parameters in an `application/x-www-form-urlencoded` body.
    case form
    /// Sends the parameters in a JSON object, for any method.
    case json
}
