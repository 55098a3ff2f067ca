/// Arrays and dictionaries, which are decoded without their `init(from:)`.
protocol Composite: Decodable {
    /// The value of a frame.
    static func decoded(by frame: ValueFrame) throws -> Self
}

extension Array: Composite where Element: Decodable {
    static func decoded(by frame: ValueFrame) throws -> Self {
        try frame.requireArray()
        let document = frame.document
        var elements = Self()
        elements.reserveCapacity(JSONDocument.room(for: frame.elementCount, Element.self))
        var position = frame.position + 1
        let end = document.next(after: frame.position)
        while position < end {
            elements.append(try frame.value(Element.self, at: position, element: elements.count))
            position = document.next(after: position)
        }
        return elements
    }
}

/// No strategy converts these keys.
extension Dictionary: Composite where Key == String, Value: Decodable {
    static func decoded(by frame: ValueFrame) throws -> Self {
        guard !frame.entry.isKind(.null) else { throw frame.null([String: Any].self, nil) }
        guard frame.entry.isObject else { throw frame.mismatch([String: Any].self, frame.entry, nil) }
        var values: Self = [:]
        let convertsKeys = frame.document.convertsKeys
        try frame.document.forEachMember(at: frame.position) { name, position in
            // Of equal keys the first one counts.
            guard values.index(forKey: name) == nil else { return }
            let key = convertsKeys ? PositionKey.name(name) : .entry(name)
            values.updateValue(try frame.value(Value.self, at: position, key: key), forKey: name)
        }
        return values
    }
}
