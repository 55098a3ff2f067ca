public import ErrandEssentials
public import ErrandHTTP

/// Parses and serializes structured field values (RFC 9651): lists, dictionaries, and typed items.
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
/// If a field has several lines, join them with `, ` before you parse them (section 4.2). An invalid value throws
/// ``ParseError``, and the recipient should ignore the field. A value can have up to 4,096 members, and a member up to
/// 1,024 parameters or items.
public enum StructuredField {
    /// An error that is thrown if a value isn't a valid structured field.
    public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The byte offset at which parsing failed.
        public let offset: Int
        /// The expected text at ``offset``, in words.
        public let expected: String

        /// The expected text and the offset.
        public var description: String { "expected \(expected) at byte \(offset)" }
    }

    /// An error that is thrown if a value can't be serialized.
    public struct SerializationError: Error, Sendable, Hashable, CustomStringConvertible {
        /// Why the value can't be serialized.
        public let description: String
    }

    /// The parameters of an item or inner list: an ordered map from keys to bare items (section 3.1.2).
    public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private var fields = OrderedFields<BareItem>()

        /// The pairs in order. Each key occurs only once.
        public var all: [(key: String, value: BareItem)] { fields.all }

        /// Creates empty parameters.
        public init() {}
        /// Creates parameters in the literal's order. If a key is repeated, its last value counts.
        public init(dictionaryLiteral elements: (String, BareItem)...) {
            for (key, value) in elements { self[key] = value }
        }

        /// The value for a key. Setting a value replaces the old value in place, or appends a new pair. Setting `nil`
        /// removes the pair.
        public subscript(key: String) -> BareItem? {
            get { fields[key] }
            set { fields[key] = newValue }
        }

        /// Whether there are no parameters.
        public var isEmpty: Bool { all.isEmpty }

        // Not inlined: inlining this comparison added 40 KB to each program.
        /// Returns whether two values have the same pairs in the same order.
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
        /// The value without its parameters.
        public var value: BareItem
        /// The item's parameters.
        public var parameters: Parameters

        /// Creates an item.
        public init(_ value: BareItem, parameters: Parameters = [:]) {
            self.value = value
            self.parameters = parameters
        }

        /// Parses a field whose value is one item (section 4.2.3). Throws ``ParseError``.
        public init(parsing text: String) throws(ParseError) {
            self = try StructuredParser.parse(text) { parser throws(ParseError) in try parser.item() }
        }

        /// Returns the field value (section 4.1.3). Throws ``SerializationError``.
        public func serialized() throws(SerializationError) -> String {
            try value.serialized() + StructuredSerializer.parameters(parameters)
        }
    }

    /// A list of items in parentheses, with parameters (section 3.1.1).
    public struct InnerList: Sendable, Hashable {
        /// The items in order.
        public var items: [Item]
        /// The parameters of the whole list.
        public var parameters: Parameters

        /// Creates an inner list.
        public init(_ items: [Item], parameters: Parameters = [:]) {
            self.items = items
            self.parameters = parameters
        }

        /// Returns the list as it appears in a field (section 4.1.1.1). Throws ``SerializationError``.
        public func serialized() throws(SerializationError) -> String {
            var parts: [String] = []
            for item in items { parts.append(try item.serialized()) }
            return "(" + parts.joined(separator: " ") + ")" + (try StructuredSerializer.parameters(parameters))
        }
    }

    /// A member of a list or dictionary.
    public enum Member: Sendable, Hashable {
        /// A single item.
        case item(Item)
        /// A list of items in parentheses.
        case innerList(InnerList)

        /// Creates an item from a value.
        public static func item(_ value: BareItem, parameters: Parameters = [:]) -> Member {
            .item(Item(value, parameters: parameters))
        }

        /// The item, or `nil` for an inner list.
        public var item: Item? { if case .item(let item) = self { item } else { nil } }
        /// The inner list, or `nil` for an item.
        public var innerList: InnerList? { if case .innerList(let list) = self { list } else { nil } }
        /// The parameters of the item or the inner list.
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

        /// Creates a list from its members.
        public init(_ members: [Member]) { self.members = members }
        /// Creates a list from the literal's members.
        public init(arrayLiteral members: Member...) { self.init(members) }

        /// Parses a field whose value is a list (section 4.2.1). An empty value is an empty list. Throws
        /// ``ParseError``.
        public init(parsing text: String) throws(ParseError) {
            members = try StructuredParser.parse(text) { parser throws(ParseError) in try parser.list() }
        }

        /// Returns the field value (section 4.1.1). Don't send a field with an empty list. Throws
        /// ``SerializationError``.
        public func serialized() throws(SerializationError) -> String {
            var parts: [String] = []
            for member in members { parts.append(try member.serialized()) }
            return parts.joined(separator: ", ")
        }
    }

    /// An ordered map from keys to members (section 3.2).
    public struct Dictionary: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        /// A key with its member.
        public struct Entry: Sendable, Hashable {
            /// The key: lowercase letters, digits, `_`, `-`, `.`, and `*`, beginning with a lowercase letter or `*`.
            public let key: String
            /// The member. If the field contains only the key, the member is the Boolean `?1` (true).
            public var member: Member
        }

        private var fields = OrderedFields<Member>()

        /// The entries in order. Each key occurs only once.
        public var entries: [Entry] { fields.all.map { Entry(key: $0.key, member: $0.value) } }

        /// Creates an empty dictionary.
        public init() {}
        /// Creates a dictionary in the literal's order. If a key is repeated, its last member counts.
        public init(dictionaryLiteral elements: (String, Member)...) {
            for (key, member) in elements { self[key] = member }
        }

        /// Parses a field whose value is a dictionary (section 4.2.2). If a key is repeated, its last member counts, at
        /// the position of the first. Throws ``ParseError``.
        public init(parsing text: String) throws(ParseError) {
            self = try StructuredParser.parse(text) { parser throws(ParseError) in try parser.dictionary() }
        }

        /// The member for a key. Setting a member replaces the old member in place, or appends a new entry. Setting
        /// `nil` removes the entry.
        public subscript(key: String) -> Member? {
            get { fields[key] }
            set { fields[key] = newValue }
        }

        /// Returns whether two dictionaries have the same members in the same order.
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

        /// Returns the field value (section 4.1.2). Don't send a field with an empty dictionary. Throws
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
    /// A bare item: a value of one of eight types, without parameters (RFC 9651, section 3.3).
    public enum BareItem: Sendable, Hashable {
        /// An integer with at most 15 digits.
        case integer(Int64)
        /// A decimal with at most 12 digits before the decimal point and three after it.
        case decimal(Decimal)
        /// A string of printable ASCII.
        case string(String)
        /// A token: a letter or `*`, followed by token characters, `:`, and `/`.
        case token(String)
        /// Bytes, encoded as base64 on the wire.
        case bytes(Data)
        /// A Boolean: `?1` or `?0`.
        case boolean(Bool)
        /// A date in seconds since 1970.
        case date(Int64)
        /// Unicode text, percent-encoded on the wire.
        case displayString(String)

        /// The value of an integer. `nil` for other types.
        public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
        /// The value of an integer or decimal. `nil` for other types.
        public var number: Double? {
            switch self {
            case .integer(let value): Double(value)
            case .decimal(let value): value.doubleValue
            default: nil
            }
        }
        /// The text of a string, token, or display string. `nil` for other types.
        public var text: String? {
            switch self {
            case .string(let text), .token(let text), .displayString(let text): text
            default: nil
            }
        }
        /// The bytes of a byte sequence. `nil` for other types.
        public var bytes: Data? { if case .bytes(let value) = self { value } else { nil } }
        /// The value of a Boolean. `nil` for other types.
        public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
        /// The value of a date. `nil` for other types.
        public var date: Date? {
            if case .date(let seconds) = self { Date(timeIntervalSince1970: Double(seconds)) } else { nil }
        }

        /// Returns the item as it appears in a field (section 4.1.3.1). Throws ``SerializationError``.
        public func serialized() throws(SerializationError) -> String { try StructuredSerializer.bareItem(self) }
    }

    /// An exact decimal number with three digits after the decimal point.
    public struct Decimal: Sendable, Hashable, CustomStringConvertible {
        /// The number multiplied by 1,000.
        public let thousandths: Int64

        /// Creates a number from thousandths.
        public init(thousandths: Int64) { self.thousandths = thousandths }

        /// Creates a number by rounding a value to three digits after the decimal point, half to even (section 4.1.5).
        /// Returns `nil` if the value isn't finite or needs more than 12 digits before the decimal point.
        public init?(_ value: Double) {
            let scaled = (value * 1000).rounded(.toNearestOrEven)
            guard scaled.isFinite, abs(scaled) < 1e15 else { return nil }
            thousandths = Int64(scaled)
        }

        /// The nearest floating-point number.
        public var doubleValue: Double { Double(thousandths) / 1000 }

        /// The number with at least one digit after the decimal point, such as "0.5" or "3.0".
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
    /// Creates a string value.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer value.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a decimal, rounded to three digits after the decimal point. Values out of range are clamped.
    public init(floatLiteral value: Double) {
        let limit: Int64 = 999_999_999_999_999
        self = .decimal(.init(value) ?? .init(thousandths: value < 0 ? -limit : limit))
    }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension StructuredField.ParseError: DescribedError {
    /// The domain of the `NSError`: "Errand.StructuredField.ParseError".
    public static var errorDomain: String { "Errand.StructuredField.ParseError" }
    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}

extension StructuredField.SerializationError: DescribedError {
    /// The domain of the `NSError`: "Errand.StructuredField.SerializationError".
    public static var errorDomain: String { "Errand.StructuredField.SerializationError" }
    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}
