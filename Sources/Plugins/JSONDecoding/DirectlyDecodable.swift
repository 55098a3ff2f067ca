import ErrandEssentials

/// A type whose values are read without calling its `init(from:)`.
protocol DirectlyDecodable: Decodable {
    /// Reads the value at a position in a frame. Without a step, the frame is the value's own, otherwise the frame
    /// around it. The position is ``ValueFrame/absent`` for a null that the text doesn't contain.
    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Self

    /// Returns `nil` if an element can't be read directly.
    static func array(in document: JSONDocument, at position: Int) -> [Self]?

    /// Returns `nil` if a value can't be read directly.
    static func dictionary(in document: JSONDocument, at position: Int) -> [String: Self]?
}

extension DirectlyDecodable {
    static func array(in document: JSONDocument, at position: Int) -> [Self]? { nil }
    static func dictionary(in document: JSONDocument, at position: Int) -> [String: Self]? { nil }
}

// MARK: Scalars

protocol DirectlyDecodableScalar: DirectlyDecodable {
    /// Returns `nil` if the value has another kind or form, or is out of range.
    static func value(in document: JSONDocument, at position: Int) -> Self?
}

extension DirectlyDecodableScalar {
    static func array(in document: JSONDocument, at position: Int) -> [Self]? {
        document.array(at: position) { value(in: document, at: $0) }
    }

    static func dictionary(in document: JSONDocument, at position: Int) -> [String: Self]? {
        document.dictionary(at: position) { value(in: document, at: $0) }
    }
}

extension Bool: DirectlyDecodableScalar {
    static func value(in document: JSONDocument, at position: Int) -> Bool? { document.bool(at: position) }

    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Bool {
        try frame.bool(at: position, step)
    }
}

extension String: DirectlyDecodableScalar {
    static func value(in document: JSONDocument, at position: Int) -> String? { document.string(at: position) }

    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> String {
        try frame.string(at: position, step)
    }
}

extension Double: DirectlyDecodableScalar {
    static func value(in document: JSONDocument, at position: Int) -> Double? { document.double(at: position) }

    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Double {
        try frame.double(at: position, step)
    }
}

extension Float: DirectlyDecodableScalar {
    static func value(in document: JSONDocument, at position: Int) -> Float? { document.float(at: position) }

    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Float {
        try frame.float(at: position, step)
    }
}

extension DirectlyDecodableScalar where Self: FixedWidthInteger {
    static func value(in document: JSONDocument, at position: Int) -> Self? {
        document.integer(Self.self, at: position)
    }

    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Self {
        try frame.integer(Self.self, at: position, step)
    }
}

extension Int: DirectlyDecodableScalar {}
extension Int8: DirectlyDecodableScalar {}
extension Int16: DirectlyDecodableScalar {}
extension Int32: DirectlyDecodableScalar {}
extension Int64: DirectlyDecodableScalar {}
extension Int128: DirectlyDecodableScalar {}
extension UInt: DirectlyDecodableScalar {}
extension UInt8: DirectlyDecodableScalar {}
extension UInt16: DirectlyDecodableScalar {}
extension UInt32: DirectlyDecodableScalar {}
extension UInt64: DirectlyDecodableScalar {}
extension UInt128: DirectlyDecodableScalar {}

// MARK: Foundation types

extension Data: DirectlyDecodable {
    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Data {
        try frame.data(at: position, step)
    }
}

extension Date: DirectlyDecodable {
    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Date {
        try frame.date(at: position, step)
    }
}

extension URL: DirectlyDecodable {
    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> URL {
        try frame.url(at: position, step)
    }
}

extension Decimal: DirectlyDecodable {
    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> Decimal {
        try frame.decimal(at: position, step)
    }
}

// MARK: Arrays and dictionaries

extension Array: DirectlyDecodable where Element: Decodable {
    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> [Element] {
        let direct = Element.self as? any DirectlyDecodable.Type
        var elements: [Element] = []
        if let direct, direct.readArray(in: frame.document, at: position, into: &elements) { return elements }
        return try frame.scoped(at: position, step) { frame in
            try frame.requireArray()
            let document = frame.document
            elements.reserveCapacity(JSONDocument.room(for: frame.elementCount, Element.self))
            var position = frame.position + 1
            let end = document.next(after: frame.position)
            while position < end {
                let step = ValueFrame.Step.index(elements.count)
                if let direct {
                    elements.append(try direct.value(as: Element.self, of: frame, at: position, step))
                } else {
                    elements.append(try frame.scoped(at: position, step) { try Element(from: $0) })
                }
                position = document.next(after: position)
            }
            return elements
        }
    }
}

/// Key strategies don't apply to dictionaries.
extension Dictionary: DirectlyDecodable where Key == String, Value: Decodable {
    static func value(of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?) throws -> [String: Value] {
        var values: [String: Value] = [:]
        if let direct = Value.self as? any DirectlyDecodable.Type,
            direct.readDictionary(in: frame.document, at: position, into: &values)
        {
            return values
        }
        return try frame.scoped(at: position, step) { frame in
            guard !frame.entry.isKind(.null) else { throw frame.null([String: Any].self, nil) }
            guard frame.entry.isObject else { throw frame.mismatch([String: Any].self, at: frame.entry, step: nil) }
            let convertsKeys = frame.document.convertsKeys
            try frame.document.forEachMember(at: frame.position) { name, position in
                // The first of repeated keys counts.
                guard values.index(forKey: name) == nil else { return }
                let key = convertsKeys ? PositionKey.name(name) : .entry(name)
                values.updateValue(try frame.value(Value.self, at: position, .key(key)), forKey: name)
            }
            return values
        }
    }
}

// Casts between a concrete type and a generic type, which are the same type here.
extension DirectlyDecodable {
    static func value<Value: Decodable>(
        as type: Value.Type, of frame: ValueFrame, at position: Int, _ step: ValueFrame.Step?
    ) throws -> Value {
        let value = try value(of: frame, at: position, step)
        if case let value as Value = value { return value }
        // Unreachable: a frame doesn't ask for another type.
        return try frame.scoped(at: position, step) { try Value(from: $0) }
    }

    fileprivate static func readArray<Values>(in document: JSONDocument, at position: Int, into values: inout Values)
        -> Bool
    {
        guard position >= 0, let array = array(in: document, at: position), let found = array as? Values else {
            return false
        }
        values = found
        return true
    }

    fileprivate static func readDictionary<Values>(
        in document: JSONDocument, at position: Int, into values: inout Values
    ) -> Bool {
        guard position >= 0, let dictionary = dictionary(in: document, at: position), let found = dictionary as? Values
        else { return false }
        values = found
        return true
    }
}

extension ValueFrame {
    /// Reads a value, directly or by calling its type's `init(from:)`. Without a step, reads this frame's value.
    func value<Value: Decodable>(_ type: Value.Type, at position: Int, _ step: Step?) throws -> Value {
        if let direct = type as? any DirectlyDecodable.Type {
            return try direct.value(as: type, of: self, at: position, step)
        }
        return try scoped(at: position, step) { try Value(from: $0) }
    }
}
