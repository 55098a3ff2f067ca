import Foundation

/// The decoder that a model reads one value from.
nonisolated struct LenientReader: Decoder, SingleValueDecodingContainer {
    let value: LenientValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        switch value {
        case .object(let members): KeyedDecodingContainer(Members(members: members, codingPath: codingPath))
        case .list(let elements) where elements.isEmpty:
            KeyedDecodingContainer(Members(members: [:], codingPath: codingPath))
        default: throw mismatch([String: Any].self)
        }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch value {
        case .list(let elements): Elements(elements: elements, codingPath: codingPath)
        case .null: Elements(elements: [], codingPath: codingPath)
        default: Elements(elements: [value], codingPath: codingPath)
        }
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool {
        if case .null = value { return true }
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let scalar = type as? any LenientScalar.Type else { return try Value(from: self) }
        guard let value = scalar.init(value) as? Value else { throw mismatch(type) }
        return value
    }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: "another type"))
    }
}

/// An object.
private nonisolated struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: LenientValue]
    let codingPath: [any CodingKey]
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { reader(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let reader = reader(key)
        if reader.decodeNil(), type is any LenientScalar.Type {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "missing or null"))
        }
        return try reader.decode(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try present(type, key)
    }

    // Without these, the protocol's defaults for the same types would be used.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try present(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try present(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try present(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try present(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try present(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try present(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try present(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try present(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try present(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try present(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try present(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try present(type, key) }

    private func present<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        switch members[key.stringValue] ?? .null {
        case .null: nil
        case .text("") where type != String.self && type is any LenientScalar.Type: nil
        default: try reader(key).decode(type)
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try reader(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try reader(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { LenientReader(value: .object(members), codingPath: codingPath) }
    func superDecoder(forKey key: Key) throws -> any Decoder { reader(key) }

    private func reader(_ key: Key) -> LenientReader {
        LenientReader(value: members[key.stringValue] ?? .null, codingPath: codingPath + [key])
    }
}

/// A list.
private nonisolated struct Elements: UnkeyedDecodingContainer {
    let elements: [LenientValue]
    let codingPath: [any CodingKey]
    var currentIndex = 0
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try peek().decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try peek().decode(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try take().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try take().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try take() }

    private mutating func take() throws -> LenientReader {
        let reader = try peek()
        currentIndex += 1
        return reader
    }

    private func peek() throws -> LenientReader {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                LenientValue.self, DecodingError.Context(codingPath: codingPath, debugDescription: "the list ends"))
        }
        return LenientReader(value: elements[currentIndex], codingPath: codingPath)
    }
}
