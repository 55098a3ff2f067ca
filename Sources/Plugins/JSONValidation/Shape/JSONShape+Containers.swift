extension JSONShape {
    /// Any array.
    public static let array = JSONShape(.array(.any, CountConstraint()))
    /// Any object.
    public static let object = JSONShape(.object([], closed: false))

    /// An array whose elements all have one shape; it may be empty.
    public static func array(of element: JSONShape) -> JSONShape { JSONShape(.array(element, CountConstraint())) }

    /// An array with a number of elements: `.array(of: .string, count: 1...5)`.
    public static func array(of element: JSONShape, count: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.array(element, CountConstraint(bounds: JSONBounds(count))))
    }

    /// An object with these keys; if `closed`, with no others: `.object(["id": .integer], closed: true)`.
    ///
    /// The last shape of a repeated key applies.
    public static func object(_ members: KeyValuePairs<String, JSONShape>, closed: Bool = false) -> JSONShape {
        object(members: members.map { ($0.key, $0.value) }, closed: closed)
    }

    /// An object with keys that are computed at run time; see ``object(_:closed:)``.
    public static func object(
        members: some Sequence<(key: String, value: JSONShape)>, closed: Bool = false
    ) -> JSONShape {
        var indices: [[UInt8]: Int] = [:]
        var unique: [ObjectMember] = []
        for (key, shape) in members {
            let index = indices[Array(key.utf8)]
            if let index {
                unique[index].shape = shape
            } else {
                indices[Array(key.utf8)] = unique.count
                unique.append(ObjectMember(key: key, shape: shape))
            }
        }
        return JSONShape(.object(unique, closed: closed))
    }

    /// An object with any keys whose values all have one shape.
    public static func map(of value: JSONShape) -> JSONShape { JSONShape(.map(value, CountConstraint())) }

    /// A map with a number of keys: `.map(of: .number, count: 1...)`.
    public static func map(of value: JSONShape, count: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.map(value, CountConstraint(bounds: JSONBounds(count))))
    }
}

extension JSONShape: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// An object with these keys, each required unless `.optional`; other keys are allowed.
    public init(dictionaryLiteral elements: (String, JSONShape)...) {
        self = .object(members: elements.map { (key: $0.0, value: $0.1) })
    }

    /// An array; `[]` of anything, `[.string]` of strings, `[.string, .integer]` of strings and integers mixed.
    public init(arrayLiteral elements: JSONShape...) {
        self = .array(of: elements.isEmpty ? .any : elements.count == 1 ? elements[0] : .either(elements))
    }
}
