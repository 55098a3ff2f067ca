/// The merged shape of the examples of one value.
struct ExampleShape {
    enum Number { case integer, any }
    struct Object {
        var keys: [String] = []
        var members: [[UInt8]: ExampleShape] = [:]
        /// The number of objects.
        var count = 1
    }

    private var hasNull = false
    private var hasBoolean = false
    private var hasString = false
    private var number: Number?
    private var elements: [ExampleShape]?
    private var object: Object?
    /// The number of values.
    private var count = 1

    init() {}
    static let null = with { $0.hasNull = true }
    static let boolean = with { $0.hasBoolean = true }
    static let string = with { $0.hasString = true }
    static func number(isInteger: Bool) -> ExampleShape { with { $0.number = isInteger ? .integer : .any } }

    /// An array; its elements are merged into at most one.
    static func array(_ element: ExampleShape?) -> ExampleShape { with { $0.elements = element.map { [$0] } ?? [] } }

    static func object(_ members: [(key: String, value: ExampleShape)]) -> ExampleShape {
        var object = Object()
        for (key, value) in members {
            object.keys.append(key)
            object.members[Array(key.utf8)] = value
        }
        return with { $0.object = object }
    }

    private static func with(_ change: (inout ExampleShape) -> Void) -> ExampleShape {
        var shape = ExampleShape()
        change(&shape)
        return shape
    }

    mutating func merge(_ other: ExampleShape) {
        count += other.count
        hasNull = hasNull || other.hasNull
        hasBoolean = hasBoolean || other.hasBoolean
        hasString = hasString || other.hasString
        if let new = other.number { number = number == nil || number == new ? new : .any }
        if let new = other.elements?.first {
            if elements?.isEmpty == false { elements?[0].merge(new) } else { elements = [new] }
        } else if elements == nil {
            elements = other.elements
        }
        guard let new = other.object else { return }
        guard object != nil else { return object = new }
        object?.merge(new)
    }

    var shape: JSONShape {
        var shapes: [JSONShape] = []
        if let object { shapes.append(object.shape) }
        if let elements { shapes.append(.array(of: elements.first?.shape ?? .any)) }
        if hasString { shapes.append(.string) }
        if let number { shapes.append(number == .integer ? .integer : .number) }
        if hasBoolean { shapes.append(.boolean) }
        guard let first = shapes.first else { return .any }
        let shape = shapes.count == 1 ? first : .either(shapes)
        return hasNull ? .nullable(shape) : shape
    }
}

extension ExampleShape.Object {
    mutating func merge(_ other: Self) {
        count += other.count
        for key in other.keys {
            let bytes = Array(key.utf8)
            guard let value = other.members[bytes] else { continue }
            if members[bytes] == nil {
                keys.append(key)
                members[bytes] = value
            } else {
                members[bytes]?.merge(value)
            }
        }
    }

    var shape: JSONShape {
        .object(
            members: keys.compactMap { key in
                members[Array(key.utf8)].map { member in
                    let shape = member.shape
                    // A key that is missing in some objects is optional; it is nullable only if an example has null.
                    return (key: key, value: member.count < count ? .optional(shape, allowsNull: false) : shape)
                }
            })
    }
}
