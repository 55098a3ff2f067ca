// What a type sees of its decoder.
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
        guard entry.isKind(.null) else { return mismatch(type, entry, nil) }
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
