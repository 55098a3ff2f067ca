import ErrandEssentials

// Values of any type.
extension ValueFrame {
    /// The value at a position: of a known type, or by its `init(from:)`.
    ///
    /// - Parameter step: the step from this frame; nil for the value of this frame itself.
    @inline(__always)
    func value<Value: Decodable>(
        _ type: Value.Type, at position: Int, _ step: @autoclosure () -> Step?
    ) throws -> Value {
        let known = KnownType(of: type)
        if known == .other {
            if document.convertsKeys, let dictionary = type as? any UnconvertedDictionary.Type,
                let value = try dictionary.decoded(by: self, at: position, step()) as? Value
            {
                return value
            }
            guard let step = step() else { return try Value(from: self) }
            return try lend(at: position, step) { try Value(from: $0) }
        }
        if let value = fast(known, type, at: position) { return value }
        return try slow(known, type, at: position, step())
    }

    /// A value of a known type that is just as the type wants it.
    @inline(never)
    private func fast<Value: Decodable>(_ known: KnownType, _ type: Value.Type, at position: Int) -> Value? {
        guard position >= 0 else { return nil }
        let document = document
        return switch known {
        case .bool: Cast.optional(document.bool(at: position))
        case .string: Cast.optional(document.string(at: position))
        case .double: Cast.optional(document.double(at: position))
        case .float: Cast.optional(document.float(at: position))
        case .int: Cast.optional(document.integer(Int.self, at: position))
        case .int8: Cast.optional(document.integer(Int8.self, at: position))
        case .int16: Cast.optional(document.integer(Int16.self, at: position))
        case .int32: Cast.optional(document.integer(Int32.self, at: position))
        case .int64: Cast.optional(document.integer(Int64.self, at: position))
        case .int128: Cast.optional(document.integer(Int128.self, at: position))
        case .uint: Cast.optional(document.integer(UInt.self, at: position))
        case .uint8: Cast.optional(document.integer(UInt8.self, at: position))
        case .uint16: Cast.optional(document.integer(UInt16.self, at: position))
        case .uint32: Cast.optional(document.integer(UInt32.self, at: position))
        case .uint64: Cast.optional(document.integer(UInt64.self, at: position))
        case .uint128: Cast.optional(document.integer(UInt128.self, at: position))
        case .bools: Cast.optional(document.array(at: position) { document.bool(at: $0) })
        case .strings: Cast.optional(document.array(at: position) { document.string(at: $0) })
        case .doubles: Cast.optional(document.array(at: position) { document.double(at: $0) })
        case .floats: Cast.optional(document.array(at: position) { document.float(at: $0) })
        case .ints: Cast.optional(integers(Int.self, at: position))
        case .int8s: Cast.optional(integers(Int8.self, at: position))
        case .int16s: Cast.optional(integers(Int16.self, at: position))
        case .int32s: Cast.optional(integers(Int32.self, at: position))
        case .int64s: Cast.optional(integers(Int64.self, at: position))
        case .uints: Cast.optional(integers(UInt.self, at: position))
        case .uint8s: Cast.optional(integers(UInt8.self, at: position))
        case .uint16s: Cast.optional(integers(UInt16.self, at: position))
        case .uint32s: Cast.optional(integers(UInt32.self, at: position))
        case .uint64s: Cast.optional(integers(UInt64.self, at: position))
        case .other, .data, .date, .url, .decimal: nil
        }
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
        case .bool: Cast.value(try bool(at: position, step), as: type)
        case .string: Cast.value(try string(at: position, step), as: type)
        case .double: Cast.value(try double(at: position, step), as: type)
        case .float: Cast.value(try float(at: position, step), as: type)
        case .int: Cast.value(try integer(Int.self, at: position, step), as: type)
        case .int8: Cast.value(try integer(Int8.self, at: position, step), as: type)
        case .int16: Cast.value(try integer(Int16.self, at: position, step), as: type)
        case .int32: Cast.value(try integer(Int32.self, at: position, step), as: type)
        case .int64: Cast.value(try integer(Int64.self, at: position, step), as: type)
        case .int128: Cast.value(try integer(Int128.self, at: position, step), as: type)
        case .uint: Cast.value(try integer(UInt.self, at: position, step), as: type)
        case .uint8: Cast.value(try integer(UInt8.self, at: position, step), as: type)
        case .uint16: Cast.value(try integer(UInt16.self, at: position, step), as: type)
        case .uint32: Cast.value(try integer(UInt32.self, at: position, step), as: type)
        case .uint64: Cast.value(try integer(UInt64.self, at: position, step), as: type)
        case .uint128: Cast.value(try integer(UInt128.self, at: position, step), as: type)
        case .data: Cast.value(try data(at: position, step), as: type)
        case .date: Cast.value(try date(at: position, step), as: type)
        case .url: Cast.value(try url(at: position, step), as: type)
        case .decimal: Cast.value(try decimal(at: position, step), as: type)
        // Element by element, so that the error has the path of the element.
        default: try scoped(at: position, step) { try Value(from: $0) }
        }
    }
}

/// Values of a type that generic code knows to be the one it has another name for.
private enum Cast {
    @inline(__always) static func value<From, To>(_ value: From, as type: To.Type) -> To {
        unsafeBitCast(value, to: type)
    }

    @inline(__always) static func optional<From, To>(_ value: From?) -> To? {
        if let value { unsafeBitCast(value, to: To.self) } else { nil }
    }
}

/// Dictionaries with keys that no strategy converts.
protocol UnconvertedDictionary: Decodable {
    static func decoded(by frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Self
}

extension Dictionary: UnconvertedDictionary where Key == String, Value: Decodable {
    static func decoded(by frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Self {
        try frame.scoped(at: position, step) { frame in
            guard !frame.entry.isKind(.null) else { throw frame.null([String: Any].self, nil) }
            guard frame.entry.isObject else { throw frame.mismatch([String: Any].self, frame.entry, nil) }
            var values: Self = [:]
            try frame.forEachMember { name, position in
                let value = try frame.value(Value.self, at: position, ValueFrame.Step.key(PositionKey.name(name)))
                if values[name] == nil { values[name] = value }
            }
            return values
        }
    }
}
