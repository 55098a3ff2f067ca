/// A step of a coding path that no key of a type stands for.
enum PositionKey: CodingKey {
    /// An element of an array.
    case index(Int)
    /// A key of a dictionary whose keys a strategy has converted, or `super`.
    case name(String)
    /// A key of a dictionary. Like `JSONDecoder`'s, it has an integer value if it's the text of an integer.
    case entry(String)

    static let `super` = PositionKey.name("super")

    init(stringValue: String) { self = .name(stringValue) }

    init(intValue: Int) { self = .index(intValue) }

    var stringValue: String {
        switch self {
        case .index(let index): "Index \(index)"
        case .name(let name), .entry(let name): name
        }
    }

    var intValue: Int? {
        switch self {
        case .index(let index): index
        case .name: nil
        case .entry(let name): Int(name)
        }
    }
}
