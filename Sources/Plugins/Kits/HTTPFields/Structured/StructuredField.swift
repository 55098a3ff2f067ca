public import ErrandEssentials
public import ErrandHTTP

/// Structured field values (RFC 9651): lists, dictionaries and items with types, parsed and serialized as the
/// algorithms of its section 4 say.
///
/// ```swift
/// let limits = try StructuredField.Dictionary(parsing: "limit=100, remaining=50;w=1, reset=5")
/// limits["remaining"]?.item?.value.integer        // 50
///
/// let list = StructuredField.List([.item("gzip"), .item(.token("br"), parameters: ["q": 0.5])])
/// try list.serialized()                           // #""gzip", br;q=0.5"#
///
/// let priority: StructuredField.Dictionary = ["u": .item(1), "i": .item(true)]
/// try priority.serialized()                       // "u=1, i"
/// ```
///
/// Several field lines of one name are joined by `, ` before parsing (section 4.2). A value that does not parse as a
/// whole throws ``ParseError``; a recipient then ignores the field. So does a value with more than 4,096 members, or
/// with more than 1,024 parameters or items in one of them: four times what every parser has to accept (section 3).
public enum StructuredField {
    /// The reason why a field value does not parse.
    public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The offset of the byte at which parsing failed, from 0.
        public let offset: Int
        /// A description of what was expected there.
        public let expected: String

        /// Both in one line.
        public var description: String { "\(expected) expected at byte \(offset)" }
    }

    /// The reason why a value cannot be serialized.
    public struct SerializationError: Error, Sendable, Hashable, CustomStringConvertible {
        /// A description of what is wrong with the value.
        public let description: String
    }

    /// An ordered map of keys to bare items, behind an item or an inner list (section 3.1.2).
    public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private var fields = OrderedFields<BareItem>()

        /// The pairs in order; each key occurs once.
        public var all: [(key: String, value: BareItem)] { fields.all }

        /// Makes no parameters.
        public init() {}
        /// Makes parameters in the order of the literal; of a key that repeats, the last value counts.
        public init(dictionaryLiteral elements: (String, BareItem)...) {
            for (key, value) in elements { self[key] = value }
        }

        /// The value of a key. Setting replaces it at its position, or appends it; nil removes it.
        public subscript(key: String) -> BareItem? {
            get { fields[key] }
            set { fields[key] = newValue }
        }

        /// Whether there are none.
        public var isEmpty: Bool { all.isEmpty }

        // A copy of it in each comparison of what has parameters took 40 KB of every program.
        /// Whether both have the same pairs in the same order.
        @inline(never) public static func == (a: Parameters, b: Parameters) -> Bool {
            a.all.elementsEqual(b.all) { $0.key == $1.key && $0.value == $1.value }
        }

        /// Hashes each pair in order.
        public func hash(into hasher: inout Hasher) {
            for (key, value) in all {
                hasher.combine(key)
                hasher.combine(value)
            }
        }
    }

    /// A bare item with parameters (section 3.3).
    public struct Item: Sendable, Hashable {
        /// The value.
        public var value: BareItem
        /// The parameters that qualify the value.
        public var parameters: Parameters

        /// Makes an item; without parameters by default.
        public init(_ value: BareItem, parameters: Parameters = [:]) {
            self.value = value
            self.parameters = parameters
        }

        /// Parses a field whose value is one item (section 4.2.3). Throws ``ParseError``.
        public init(parsing text: String) throws(ParseError) {
            self = try StructuredParser.parse(text) { parser throws(ParseError) in try parser.item() }
        }

        /// The field value (section 4.1.3). Throws ``SerializationError``.
        public func serialized() throws(SerializationError) -> String {
            try value.serialized() + StructuredSerializer.parameters(parameters)
        }
    }

    /// A list of items in parentheses, with parameters (section 3.1.1).
    public struct InnerList: Sendable, Hashable {
        /// The items in order.
        public var items: [Item]
        /// The parameters that qualify the list as a whole.
        public var parameters: Parameters

        /// Makes an inner list; without parameters by default.
        public init(_ items: [Item], parameters: Parameters = [:]) {
            self.items = items
            self.parameters = parameters
        }

        /// The list as it stands in a field (section 4.1.1.1). Throws ``SerializationError``.
        public func serialized() throws(SerializationError) -> String {
            var parts: [String] = []
            for item in items { parts.append(try item.serialized()) }
            return "(" + parts.joined(separator: " ") + ")" + (try StructuredSerializer.parameters(parameters))
        }
    }

    /// A member of a list or of a dictionary.
    public enum Member: Sendable, Hashable {
        /// An item.
        case item(Item)
        /// An inner list.
        case innerList(InnerList)

        /// An item of a value; without parameters by default.
        public static func item(_ value: BareItem, parameters: Parameters = [:]) -> Member {
            .item(Item(value, parameters: parameters))
        }

        /// The item; nil for an inner list.
        public var item: Item? { if case .item(let item) = self { item } else { nil } }
        /// The inner list; nil for an item.
        public var innerList: InnerList? { if case .innerList(let list) = self { list } else { nil } }
        /// The parameters of either.
        public var parameters: Parameters {
            switch self {
            case .item(let item): item.parameters
            case .innerList(let list): list.parameters
            }
        }

        func serialized() throws(SerializationError) -> String {
            switch self {
            case .item(let item): try item.serialized()
            case .innerList(let list): try list.serialized()
            }
        }
    }

    /// A list of members (section 3.1).
    public struct List: Sendable, Hashable, ExpressibleByArrayLiteral {
        /// The members in order.
        public var members: [Member]

        /// Makes a list.
        public init(_ members: [Member]) { self.members = members }
        /// Makes a list of the literal's members.
        public init(arrayLiteral members: Member...) { self.init(members) }

        /// Parses a field whose value is a list (section 4.2.1); an empty value is an empty list. Throws
        /// ``ParseError``.
        public init(parsing text: String) throws(ParseError) {
            members = try StructuredParser.parse(text) { parser throws(ParseError) in try parser.list() }
        }

        /// The field value (section 4.1.1); a field with an empty list is not sent. Throws ``SerializationError``.
        public func serialized() throws(SerializationError) -> String {
            var parts: [String] = []
            for member in members { parts.append(try member.serialized()) }
            return parts.joined(separator: ", ")
        }
    }

    /// An ordered map of keys to members (section 3.2).
    public struct Dictionary: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        /// One key with its member.
        public struct Entry: Sendable, Hashable {
            /// Lower-case letters, digits, `_`, `-`, `.` and `*`, not beginning with a digit, `-` or `.`.
            public let key: String
            /// `?1` where the field has only the key.
            public var member: Member
        }

        private var fields = OrderedFields<Member>()

        /// The entries in order; each key occurs once.
        public var entries: [Entry] { fields.all.map { Entry(key: $0.key, member: $0.value) } }

        /// Makes an empty dictionary.
        public init() {}
        /// Makes a dictionary in the order of the literal; of a key that repeats, the last member counts.
        public init(dictionaryLiteral elements: (String, Member)...) {
            for (key, member) in elements { self[key] = member }
        }

        /// Parses a field whose value is a dictionary (section 4.2.2); of a key that repeats, the last member counts,
        /// at the position of the first. Throws ``ParseError``.
        public init(parsing text: String) throws(ParseError) {
            self = try StructuredParser.parse(text) { parser throws(ParseError) in try parser.dictionary() }
        }

        /// The member of a key. Setting replaces it at its position, or appends it; nil removes it.
        public subscript(key: String) -> Member? {
            get { fields[key] }
            set { fields[key] = newValue }
        }

        /// Whether both have the same members in the same order.
        public static func == (a: Dictionary, b: Dictionary) -> Bool {
            a.fields.all.elementsEqual(b.fields.all) { $0.key == $1.key && $0.value == $1.value }
        }

        /// Hashes each entry in order.
        public func hash(into hasher: inout Hasher) {
            for (key, member) in fields.all {
                hasher.combine(key)
                hasher.combine(member)
            }
        }

        /// The field value (section 4.1.2); a field with an empty dictionary is not sent. Throws
        /// ``SerializationError``.
        public func serialized() throws(SerializationError) -> String {
            var parts: [String] = []
            for entry in entries {
                let key = try StructuredSerializer.key(entry.key)
                if case .item(let item) = entry.member, item.value == .boolean(true) {
                    parts.append(key + (try StructuredSerializer.parameters(item.parameters)))
                } else {
                    parts.append(key + "=" + (try entry.member.serialized()))
                }
            }
            return parts.joined(separator: ", ")
        }
    }
}

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

extension StructuredField.ParseError: DescribedError {
    /// "Errand.StructuredField.ParseError"
    public static var errorDomain: String { "Errand.StructuredField.ParseError" }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}

extension StructuredField.SerializationError: DescribedError {
    /// "Errand.StructuredField.SerializationError"
    public static var errorDomain: String { "Errand.StructuredField.SerializationError" }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}
