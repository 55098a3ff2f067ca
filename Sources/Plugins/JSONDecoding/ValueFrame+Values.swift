import ErrandEssentials

// Values of any type.
extension ValueFrame {
    /// The value of this frame.
    @inline(__always)
    func value<Value: Decodable>(_ type: Value.Type, as known: KnownType? = nil) throws -> Value {
        try value(type, known ?? KnownType(of: type), at: position, nil) { try Value(from: self) }
    }

    /// The value of an element.
    @inline(__always) func value<Value: Decodable>(_ type: Value.Type, at position: Int, element: Int) throws -> Value {
        try value(type, KnownType(of: type), at: position, .index(element)) {
            try lend(at: position, { $0.enter(element) }) { try Value(from: $0) }
        }
    }

    /// The value of a member.
    @inline(__always)
    func value<Value: Decodable, Key: CodingKey>(_ type: Value.Type, at position: Int, key: Key) throws -> Value {
        try value(type, KnownType(of: type), at: position, .key(key)) {
            try lend(at: position, { $0.enter(key) }) { try Value(from: $0) }
        }
    }

    /// A value of a known type, an array or a dictionary, or what the `init(from:)` of the type returns.
    ///
    /// - Parameter step: the step from this frame; nil for the value of this frame itself.
    @inline(__always)
    private func value<Value: Decodable>(
        _ type: Value.Type, _ known: KnownType, at position: Int, _ step: @autoclosure () -> Step?,
        _ other: () throws -> Value
    ) throws -> Value {
        if known == .composite, let composite = type as? any Composite.Type {
            return try self.composite(composite, type, at: position, step())
        }
        return known > .composite ? try self.known(known, type, at: position, step()) : try other()
    }

    @inline(never)
    private func composite<Content: Composite, Value>(
        _ composite: Content.Type, _ type: Value.Type, at position: Int, _ step: Step?
    ) throws -> Value {
        try scoped(at: position, step) { cast(try composite.decoded(by: $0), as: type) }
    }

    /// A value of a known type, which most often is just as the type wants it.
    @inline(never)
    private func known<Value: Decodable>(
        _ known: KnownType, _ type: Value.Type, at position: Int, _ step: @autoclosure () -> Step?
    ) throws -> Value {
        guard position >= 0 else { return try slow(known, type, at: position, step()) }
        let document = document
        switch known {
        case .bool: if let value = document.bool(at: position) { return cast(value, as: type) }
        case .string: if let value = document.string(at: position) { return cast(value, as: type) }
        case .double: if let value = document.double(at: position) { return cast(value, as: type) }
        case .float: if let value = document.float(at: position) { return cast(value, as: type) }
        case .int: if let value = document.integer(Int.self, at: position) { return cast(value, as: type) }
        case .int8: if let value = document.integer(Int8.self, at: position) { return cast(value, as: type) }
        case .int16: if let value = document.integer(Int16.self, at: position) { return cast(value, as: type) }
        case .int32: if let value = document.integer(Int32.self, at: position) { return cast(value, as: type) }
        case .int64: if let value = document.integer(Int64.self, at: position) { return cast(value, as: type) }
        case .int128: if let value = document.integer(Int128.self, at: position) { return cast(value, as: type) }
        case .uint: if let value = document.integer(UInt.self, at: position) { return cast(value, as: type) }
        case .uint8: if let value = document.integer(UInt8.self, at: position) { return cast(value, as: type) }
        case .uint16: if let value = document.integer(UInt16.self, at: position) { return cast(value, as: type) }
        case .uint32: if let value = document.integer(UInt32.self, at: position) { return cast(value, as: type) }
        case .uint64: if let value = document.integer(UInt64.self, at: position) { return cast(value, as: type) }
        case .uint128: if let value = document.integer(UInt128.self, at: position) { return cast(value, as: type) }
        case .bools: if let value = document.array(at: position, document.bool) { return cast(value, as: type) }
        case .strings: if let value = document.array(at: position, document.string) { return cast(value, as: type) }
        case .doubles: if let value = document.array(at: position, document.double) { return cast(value, as: type) }
        case .floats: if let value = document.array(at: position, document.float) { return cast(value, as: type) }
        case .ints: if let value = integers(Int.self, at: position) { return cast(value, as: type) }
        case .int8s: if let value = integers(Int8.self, at: position) { return cast(value, as: type) }
        case .int16s: if let value = integers(Int16.self, at: position) { return cast(value, as: type) }
        case .int32s: if let value = integers(Int32.self, at: position) { return cast(value, as: type) }
        case .int64s: if let value = integers(Int64.self, at: position) { return cast(value, as: type) }
        case .uints: if let value = integers(UInt.self, at: position) { return cast(value, as: type) }
        case .uint8s: if let value = integers(UInt8.self, at: position) { return cast(value, as: type) }
        case .uint16s: if let value = integers(UInt16.self, at: position) { return cast(value, as: type) }
        case .uint32s: if let value = integers(UInt32.self, at: position) { return cast(value, as: type) }
        case .uint64s: if let value = integers(UInt64.self, at: position) { return cast(value, as: type) }
        case .boolsByKey:
            if let value = document.dictionary(at: position, document.bool) { return cast(value, as: type) }
        case .stringsByKey:
            if let value = document.dictionary(at: position, document.string) { return cast(value, as: type) }
        case .doublesByKey:
            if let value = document.dictionary(at: position, document.double) { return cast(value, as: type) }
        case .intsByKey:
            if let value = document.dictionary(at: position, { document.integer(Int.self, at: $0) }) {
                return cast(value, as: type)
            }
        case .other, .composite, .data, .date, .url, .decimal: break
        }
        return try slow(known, type, at: position, step())
    }

    private func integers<Element: FixedWidthInteger>(_ type: Element.Type, at position: Int) -> [Element]? {
        document.array(at: position) { document.integer(type, at: $0) }
    }

    /// A value of a known type, or the error that says why there is none.
    @inline(never)
    private func slow<Value: Decodable>(
        _ known: KnownType, _ type: Value.Type, at position: Int, _ step: Step?
    ) throws -> Value {
        switch known {
        case .bool: cast(try bool(at: position, step), as: type)
        case .string: cast(try string(at: position, step), as: type)
        case .double: cast(try double(at: position, step), as: type)
        case .float: cast(try float(at: position, step), as: type)
        case .int: cast(try integer(Int.self, at: position, step), as: type)
        case .int8: cast(try integer(Int8.self, at: position, step), as: type)
        case .int16: cast(try integer(Int16.self, at: position, step), as: type)
        case .int32: cast(try integer(Int32.self, at: position, step), as: type)
        case .int64: cast(try integer(Int64.self, at: position, step), as: type)
        case .int128: cast(try integer(Int128.self, at: position, step), as: type)
        case .uint: cast(try integer(UInt.self, at: position, step), as: type)
        case .uint8: cast(try integer(UInt8.self, at: position, step), as: type)
        case .uint16: cast(try integer(UInt16.self, at: position, step), as: type)
        case .uint32: cast(try integer(UInt32.self, at: position, step), as: type)
        case .uint64: cast(try integer(UInt64.self, at: position, step), as: type)
        case .uint128: cast(try integer(UInt128.self, at: position, step), as: type)
        case .data: cast(try data(at: position, step), as: type)
        case .date: cast(try date(at: position, step), as: type)
        case .url: cast(try url(at: position, step), as: type)
        case .decimal: cast(try decimal(at: position, step), as: type)
        // Element by element, so that the error has the path of the element.
        default:
            if let composite = type as? any Composite.Type {
                try self.composite(composite, type, at: position, step)
            } else {
                try scoped(at: position, step) { try Value(from: $0) }
            }
        }
    }
}

/// A value of a type that generic code knows to be the one it has another name for.
@inline(__always) private func cast<From, To>(_ value: From, as type: To.Type) -> To { unsafeBitCast(value, to: type) }
