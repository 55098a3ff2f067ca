/// A step of a coding path that no key of a type stands for.
enum PositionKey: CodingKey {
    /// An element of an array.
    case index(Int)
    /// A key of a dictionary, or `super`.
    case name(String)

    static let `super` = PositionKey.name("super")

    init(stringValue: String) { self = .name(stringValue) }

    init(intValue: Int) { self = .index(intValue) }

    var stringValue: String {
        switch self {
        case .index(let index): "Index \(index)"
        case .name(let name): name
        }
    }

    var intValue: Int? {
        if case .index(let index) = self { index } else { nil }
    }
}
