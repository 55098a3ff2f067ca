import ErrandEssentials
import ErrandJSONSyntax

/// A value that is being decoded, with its coding path. Types receive it as their `Decoder`.
final class ValueFrame {
    /// The position of a value that the text doesn't contain. It counts as null.
    static let absent = -1

    let document: JSONDocument
    let position: Int

    private let parent: ValueFrame?
    private let step: Step
    /// Whether a container created this frame for a nested container.
    private let isNested: Bool
    /// Whether decoding of the value has ended. A type may keep its frame longer.
    private var hasEnded = false

    private var count: Int?
    /// For objects with many or irregular keys, `nil` until needed.
    private var table: [String: Int]?
    private var cursor: JSONDocument.MemberCursor

    /// Stores an index without an existential.
    enum Step {
        case index(Int)
        case key(any CodingKey)

        var key: any CodingKey {
            switch self {
            case .index(let index): PositionKey.index(index)
            case .key(let key): key
            }
        }
    }

    init(_ document: JSONDocument) {
        (self.document, position, parent, step, isNested) = (document, 0, nil, .index(0), false)
        cursor = JSONDocument.MemberCursor(key: 1)
    }

    init(_ parent: ValueFrame, at position: Int, _ step: consuming Step, isNested: Bool = false) {
        (document, self.position, self.parent, self.step) = (parent.document, position, parent, step)
        self.isNested = isNested
        cursor = JSONDocument.MemberCursor(key: position &+ 1)
    }

    var entry: IndexEntry { entry(at: position) }

    func entry(at position: Int) -> IndexEntry {
        position >= 0 ? document[position] : IndexEntry(.null, start: 0, length: 0)
    }

    /// Without a step, passes this frame.
    @inline(__always)
    func scoped<Value>(
        at position: Int, _ step: consuming Step?, _ body: (ValueFrame) throws -> Value
    ) rethrows -> Value {
        guard let step else { return try body(self) }
        let frame = ValueFrame(self, at: position, step)
        defer { frame.hasEnded = true }
        return try body(frame)
    }

    // MARK: Paths

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var frame = self
        while let parent = frame.parent {
            path.append(frame.step.key)
            frame = parent
        }
        path.reverse()
        return path
    }

    /// The frame of the value that asked for the container. If that value has already been decoded, the frame around
    /// it.
    var asking: ValueFrame {
        var frame = self
        while frame.isNested || frame.hasEnded, let parent = frame.parent { frame = parent }
        return frame
    }

    func path(_ step: Step?) -> [any CodingKey] {
        if let step { codingPath + [step.key] } else { codingPath }
    }

    // MARK: Elements

    var elementCount: Int {
        if let count { return count }
        var (elements, element) = (0, position + 1)
        let end = document.next(after: position)
        while element < end {
            elements += 1
            element = document.next(after: element)
        }
        count = elements
        return elements
    }

    // MARK: Members

    func find(_ name: String) -> Int {
        if let table { return table[name] ?? Self.absent }
        if usesTable { return look(up: name) }
        var cursor = cursor
        let search = document.find(name, inObjectAt: position, &cursor)
        self.cursor = cursor
        switch search {
        case .found(let position): return position
        case .tooMany: return look(up: name)
        // Strings are equal if their characters are equal, even if their bytes differ, as for the Kelvin sign and K.
        case .absent: return name.utf8.allSatisfy { $0 < 0x80 } ? Self.absent : look(up: name)
        }
    }

    /// Such keys can't be compared byte by byte.
    private var usesTable: Bool { document.convertsKeys || entry.isKind(.irregularObject) }

    private func look(up name: String) -> Int {
        let positions = table ?? (document.convertsKeys ? convertedKeys() : plainKeys())
        table = positions
        return positions[name] ?? Self.absent
    }

    var allKeys: [String] {
        if document.convertsKeys {
            return (table ?? convertedKeys()).sorted { $0.value < $1.value }.map(\.key)
        }
        var names: [String] = []
        var known: Set<String> = []
        document.forEachMember(at: position) { name, _ in
            if known.insert(name).inserted { names.append(name) }
        }
        return names
    }

    private func plainKeys() -> [String: Int] {
        var table: [String: Int] = [:]
        document.forEachMember(at: position) { name, position in table.setIfAbsent(name, position) }
        return table
    }

    private func convertedKeys() -> [String: Int] {
        var table: [String: Int] = [:]
        let strategy = document.options.keyDecodingStrategy
        if case .custom(let convert) = strategy {
            var path = codingPath
            document.forEachMember(at: position) { name, position in
                path.append(PositionKey.name(name))
                table.setIfAbsent(convert(path).stringValue, position)
                path.removeLast()
            }
        } else {
            document.forEachMember(at: position) { name, position in
                table.setIfAbsent(SnakeCase.camelCase(name), position)
            }
        }
        return table
    }
}

extension ValueFrame: Decoder {
    var userInfo: [CodingUserInfoKey: Any] { document.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard entry.isObject else { throw noContainer("keyed decoding container", [String: Any].self) }
        return KeyedDecodingContainer(KeyedValues<Key>(frame: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try requireArray()
        return UnkeyedValues(self)
    }

    func requireArray() throws {
        guard entry.isKind(.array) else { throw noContainer("unkeyed decoding container", [Any].self) }
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    @inline(never) private func noContainer(_ name: String, _ type: Any.Type) -> DecodingError {
        guard entry.isKind(.null) else { return mismatch(type, at: entry, step: nil) }
        return .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: "Cannot get \(name) -- found null value instead"))
    }
}

extension ValueFrame: SingleValueDecodingContainer {
    func decodeNil() -> Bool { entry.isKind(.null) }

    func decode(_ type: Bool.Type) throws -> Bool { try bool(at: position, nil) }
    func decode(_ type: String.Type) throws -> String { try string(at: position, nil) }

    func decode(_ type: Double.Type) throws -> Double {
        if position >= 0, let value = document.double(at: position) { value } else { try double(at: position, nil) }
    }

    func decode(_ type: Float.Type) throws -> Float {
        if position >= 0, let value = document.float(at: position) { value } else { try float(at: position, nil) }
    }

    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type, at: position, nil) }

    @inline(__always) private func integer<Value: FixedWidthInteger>() throws -> Value {
        if position >= 0, let value = document.integer(Value.self, at: position) { return value }
        return try integer(Value.self, at: position, nil)
    }
}

// The errors of `JSONDecoder`, and slower reading methods, which throw these errors.
extension ValueFrame {
    func missing(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    func mismatch(_ type: Any.Type, at entry: IndexEntry, step: Step?) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: path(step), debugDescription: "Expected to decode \(type) but found \(entry.name) instead.")
        )
    }

    func null(_ type: Any.Type, _ step: Step?) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: path(step), debugDescription: "Cannot get value of type \(type) -- found null value instead"
            ))
    }

    func corrupted(_ message: String, _ step: Step?) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(step), debugDescription: message))
    }

    /// `JSONDecoder` throws this error without a coding path, and reports that the text isn't JSON.
    private func unrepresentable(_ type: Any.Type, at entry: IndexEntry, step: Step?) -> DecodingError {
        let error = JSONDecodingError(
            .numberNotRepresentable, "expected a number that \(type) can hold", byte: entry.start)
        return .dataCorrupted(
            DecodingError.Context(
                codingPath: path(step), debugDescription: "Expected a number that \(type) can hold.",
                underlyingError: error))
    }

    // MARK: Scalars

    @inline(never) func bool(at position: Int, _ step: Step?) throws -> Bool {
        if position >= 0, let value = document.bool(at: position) { return value }
        throw mismatch(Bool.self, at: entry(at: position), step: step)
    }

    @inline(never) func string(at position: Int, _ step: Step?) throws -> String {
        if position >= 0, let value = document.string(at: position) { return value }
        throw nullOrMismatch(String.self, at: position, step)
    }

    @inline(never)
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at position: Int, _ step: Step?) throws -> Value {
        let entry = entry(at: position)
        guard entry.isKind(.integer) || entry.isKind(.number) else { throw nullOrMismatch(type, at: position, step) }
        guard let value = document.number(entry).integer(type) else {
            throw unrepresentable(type, at: entry, step: step)
        }
        return value
    }

    @inline(never) func double(at position: Int, _ step: Step?) throws -> Double {
        try floatingPoint(at: position, step) { $0.double }
    }

    @inline(never) func float(at position: Int, _ step: Step?) throws -> Float {
        try floatingPoint(at: position, step) { $0.float }
    }

    private func floatingPoint<Value: BinaryFloatingPoint>(
        at position: Int, _ step: Step?, _ read: (JSONNumber) -> Value
    ) throws -> Value {
        let entry = entry(at: position)
        if entry.isKind(.integer) || entry.isKind(.number) {
            let number = document.number(entry)
            let value = read(number)
            guard value.isFinite, value != 0 || number.isZero else {
                throw unrepresentable(Value.self, at: entry, step: step)
            }
            return value
        }
        if entry.isKind(.string), let text = document.string(at: position),
            case .convertFromString(let infinity, let negative, let nan) =
                document.options.nonConformingFloatDecodingStrategy
        {
            // Compares byte by byte, unlike `==`.
            if text.utf8.elementsEqual(infinity.utf8) { return .infinity }
            if text.utf8.elementsEqual(negative.utf8) { return -.infinity }
            if text.utf8.elementsEqual(nan.utf8) { return .nan }
        }
        throw nullOrMismatch(Value.self, at: position, step)
    }

    private func nullOrMismatch(_ type: Any.Type, at position: Int, _ step: Step?) -> DecodingError {
        let entry = entry(at: position)
        return entry.isKind(.null) ? null(type, step) : mismatch(type, at: entry, step: step)
    }

    // MARK: Foundation types

    func date(at position: Int, _ step: Step?) throws -> Date {
        guard !entry(at: position).isKind(.null) else { throw null(Date.self, step) }
        let strategy = document.options.dateDecodingStrategy
        if case .deferredToDate = strategy {
            return Date(timeIntervalSinceReferenceDate: try double(at: position, step))
        }
        if case .secondsSince1970 = strategy { return Date(timeIntervalSince1970: try double(at: position, step)) }
        if case .millisecondsSince1970 = strategy {
            return Date(timeIntervalSince1970: try double(at: position, step) / 1_000)
        }
        if case .iso8601 = strategy {
            let text = try string(at: position, step)
            if let date = ISO8601Date.date(text) { return date }
            // Like `JSONDecoder`, throws the coding path of the type that reads the date.
            throw asking.corrupted("Expected date string to be ISO8601-formatted.", nil)
        }
        if case .custom(let read) = strategy { return try scoped(at: position, step) { try read($0) } }
        // `JSONDecoder` handles strategies with formatters, which only some platforms have.
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = strategy
        let entry = entry(at: position)
        guard entry.isKind(.string) || entry.isKind(.escapedString) else {
            throw mismatch(String.self, at: entry, step: step)
        }
        do { return try decoder.decode(Date.self, from: Data(document.quoted(entry))) } catch {
            throw corrupted("Date string does not match format expected by formatter.", step)
        }
    }

    func data(at position: Int, _ step: Step?) throws -> Data {
        guard !entry(at: position).isKind(.null) else { throw null(Data.self, step) }
        let strategy = document.options.dataDecodingStrategy
        if case .custom(let read) = strategy { return try scoped(at: position, step) { try read($0) } }
        if case .deferredToData = strategy { return try scoped(at: position, step) { try Data(from: $0) } }
        guard let data = Data(base64Encoded: try string(at: position, step)) else {
            throw corrupted("Encountered Data is not valid Base64.", step)
        }
        return data
    }

    func url(at position: Int, _ step: Step?) throws -> URL {
        guard !entry(at: position).isKind(.null) else { throw null(URL.self, step) }
        guard let url = URL(string: try string(at: position, step)) else {
            throw corrupted("Invalid URL string.", step)
        }
        return url
    }

    func decimal(at position: Int, _ step: Step?) throws -> Decimal {
        let entry = entry(at: position)
        guard !entry.isKind(.null) else { throw null(Decimal.self, step) }
        guard entry.isKind(.integer) || entry.isKind(.number) else {
            throw mismatch(Decimal.self, at: entry, step: step)
        }
        guard let value = Decimal(string: String(decoding: document.bytes(entry), as: UTF8.self)) else {
            throw unrepresentable(Decimal.self, at: entry, step: step)
        }
        return value
    }
}
