import ErrandJSONSyntax

/// Derives a shape from an example that the validator has accepted, so its syntax is valid and its depth bounded.
struct ExampleReader {
    private var p: Int

    init(_ text: Span<UInt8>) { p = text.count >= 3 && text[0] == 0xEF ? 3 : 0 }

    mutating func read(_ text: Span<UInt8>) -> ExampleShape {
        skipSpace(text)
        guard p < text.count else { return ExampleShape() }
        switch text[p] {
        case JSONGrammar.quote:
            _ = string(text)
            return .string
        case JSONGrammar.openBracket: return array(text)
        case JSONGrammar.openBrace: return object(text)
        case UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "f"):
            let isNull = text[p] == UInt8(ascii: "n")
            p = JSONGrammar.literal(in: text, from: p).index
            return isNull ? .null : .boolean
        default:
            let (scan, isPlain) = JSONGrammar.number(in: text, from: p)
            p = scan.index
            return .number(isInteger: isPlain)
        }
    }

    private mutating func array(_ text: Span<UInt8>) -> ExampleShape {
        var element: ExampleShape?
        while next(text, JSONGrammar.closeBracket) {
            let value = read(text)
            if element == nil { element = value } else { element?.merge(value) }
        }
        return .array(element)
    }

    private mutating func object(_ text: Span<UInt8>) -> ExampleShape {
        var members: [(key: String, value: ExampleShape)] = []
        while next(text, JSONGrammar.closeBrace) {
            let key = string(text)
            skipSpace(text)
            p += 1
            members.append((key, read(text)))
        }
        return .object(members)
    }

    private mutating func next(_ text: Span<UInt8>, _ close: UInt8) -> Bool {
        skipSpace(text)
        guard p < text.count else { return false }
        let isClose = text[p] == close
        p += 1
        if isClose { return false }
        skipSpace(text)
        guard p < text.count, text[p] == close else { return p < text.count }
        p += 1
        return false
    }

    private mutating func string(_ text: Span<UInt8>) -> String {
        let start = p + 1
        p = JSONGrammar.string(in: text, from: start).index
        return JSONContent(start, p - 1).string(in: text)
    }

    private mutating func skipSpace(_ text: Span<UInt8>) { p = JSONGrammar.skipSpace(in: text, from: p) }
}

struct ExampleShape {
    enum Number { case integer, any }
    struct Object {
        var keys: [String] = []
        var members: [[UInt8]: ExampleShape] = [:]
        var count = 1
    }

    private var hasNull = false
    private var hasBoolean = false
    private var hasString = false
    private var number: Number?
    private var elements: [ExampleShape]?
    private var object: Object?
    private var count = 1

    init() {}
    static let null = with { $0.hasNull = true }
    static let boolean = with { $0.hasBoolean = true }
    static let string = with { $0.hasString = true }
    static func number(isInteger: Bool) -> ExampleShape { with { $0.number = isInteger ? .integer : .any } }

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
                    // A key that some objects lack is optional, but nullable only if an example has null.
                    return (key: key, value: member.count < count ? .optional(shape, allowsNull: false) : shape)
                }
            })
    }
}
