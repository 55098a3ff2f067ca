struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let frame: ValueFrame

    var codingPath: [any CodingKey] { frame.codingPath }
    var allKeys: [Key] { frame.allKeys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { frame.find(key.stringValue) >= 0 }

    func decodeNil(forKey key: Key) throws -> Bool { frame.document[try position(key)].isKind(.null) }

    // MARK: Scalars

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let position = frame.find(key.stringValue)
        if position >= 0, let value = frame.document.bool(at: position) { return value }
        return try frame.bool(at: self.position(key), .key(key))
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let position = frame.find(key.stringValue)
        if position >= 0, let value = frame.document.string(at: position) { return value }
        return try frame.string(at: self.position(key), .key(key))
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let position = frame.find(key.stringValue)
        if position >= 0, let value = frame.document.double(at: position) { return value }
        return try frame.double(at: self.position(key), .key(key))
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        let position = frame.find(key.stringValue)
        if position >= 0, let value = frame.document.float(at: position) { return value }
        return try frame.float(at: self.position(key), .key(key))
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try frame.value(type, at: position(key), .key(key))
    }

    // MARK: Scalars that may be absent or null

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key).map { try frame.document.bool(at: $0) ?? frame.bool(at: $0, .key(key)) }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try frame.document.string(at: $0) ?? frame.string(at: $0, .key(key)) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try frame.document.double(at: $0) ?? frame.double(at: $0, .key(key)) }
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try present(key).map { try frame.document.float(at: $0) ?? frame.float(at: $0, .key(key)) }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try integerIfPresent(key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try integerIfPresent(key) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let position = present(key) else { return nil }
        return try frame.value(type, at: position, .key(key))
    }

    // MARK: Nested containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try ValueFrame(frame, at: position(key), .key(key), isNested: true).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try ValueFrame(frame, at: position(key), .key(key), isNested: true).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        ValueFrame(frame, at: frame.find(PositionKey.super.stringValue), .key(PositionKey.super))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        ValueFrame(frame, at: frame.find(key.stringValue), .key(key))
    }

    // MARK: Positions

    @inline(__always) private func position(_ key: Key) throws -> Int {
        let position = frame.find(key.stringValue)
        if position < 0 { throw frame.missing(key) }
        return position
    }

    @inline(__always) private func present(_ key: Key) -> Int? {
        let position = frame.find(key.stringValue)
        return position < 0 || frame.document[position].isKind(.null) ? nil : position
    }

    @inline(__always) private func integer<Value: FixedWidthInteger>(_ key: Key) throws -> Value {
        let position = frame.find(key.stringValue)
        if position >= 0, let value = frame.document.integer(Value.self, at: position) { return value }
        return try frame.integer(Value.self, at: self.position(key), .key(key))
    }

    @inline(__always) private func integerIfPresent<Value: FixedWidthInteger>(_ key: Key) throws -> Value? {
        guard let position = present(key) else { return nil }
        if let value = frame.document.integer(Value.self, at: position) { return value }
        return try frame.integer(Value.self, at: position, .key(key))
    }
}

/// A step of a coding path that isn't a type's coding key.
enum PositionKey: CodingKey {
    case index(Int)
    /// A dictionary's key if a key strategy is set, or `super`.
    case name(String)
    /// A dictionary's key without a key strategy. As in `JSONDecoder`, it has an integer value if its text is an
    /// integer.
    case entry(String)

    static let `super` = PositionKey.name("super")

    init(stringValue: String) { self = .name(stringValue) }

    init(intValue: Int) { self = .index(intValue) }

    var stringValue: String {
        switch self {
        case .index(let index): "Index \(index)"
        case .name(let name), .entry(let name): name
        }
    }

    var intValue: Int? {
        switch self {
        case .index(let index): index
        case .name: nil
        case .entry(let name): Int(name)
        }
    }
}
