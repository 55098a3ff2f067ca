/// Arrays and dictionaries, which are decoded without their `init(from:)`: in place, and with room for all they get.
protocol Composite: Decodable {
    /// The value of a frame.
    static func decoded(by frame: ValueFrame) throws -> Self
}

extension Array: Composite where Element: Decodable {
    static func decoded(by frame: ValueFrame) throws -> Self {
        try frame.requireArray()
        let document = frame.document
        return try Self(unsafeUninitializedCapacity: frame.elementCount) { elements, count in
            guard let base = elements.baseAddress else { return }
            var position = frame.position + 1
            let end = document.next(after: frame.position)
            while position < end {
                (base + count).initialize(to: try frame.value(Element.self, at: position, element: count))
                count += 1
                position = document.next(after: position)
            }
        }
    }
}

/// No strategy converts these keys.
extension Dictionary: Composite where Key == String, Value: Decodable {
    static func decoded(by frame: ValueFrame) throws -> Self {
        guard !frame.entry.isKind(.null) else { throw frame.null([String: Any].self, nil) }
        guard frame.entry.isObject else { throw frame.mismatch([String: Any].self, frame.entry, nil) }
        var values: Self = [:]
        try frame.document.forEachMember(at: frame.position) { name, position in
            // Of equal keys the first one counts.
            guard values.index(forKey: name) == nil else { return }
            values.updateValue(
                try frame.value(Value.self, at: position, key: PositionKey.name(name)), forKey: name)
        }
        return values
    }
}
