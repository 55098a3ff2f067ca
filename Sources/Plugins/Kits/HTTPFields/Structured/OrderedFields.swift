/// An ordered map of unique keys. With many keys, lookup doesn't scan all of them.
struct OrderedFields<Value> {
    private(set) var all: [(key: String, value: Value)] = []
    /// The position of each key, once there are more than `few`.
    private var positions: [String: Int] = [:]

    private static var few: Int { 16 }

    func position(of key: String) -> Int? {
        all.count > Self.few ? positions[key] : all.firstIndex { $0.key == key }
    }

    subscript(key: String) -> Value? {
        get { position(of: key).map { all[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let index?, let value?): all[index].value = value
            case (let index?, nil):
                all.remove(at: index)
                remember(from: index)
            case (nil, let value?):
                all.append((key, value))
                remember(from: all.count == Self.few + 1 ? 0 : all.count - 1)
            case (nil, nil): break
            }
        }
    }

    private mutating func remember(from index: Int) {
        guard all.count > Self.few else { return positions = [:] }
        if positions.count > all.count { positions = [:] }
        for position in (positions.isEmpty ? 0 : index)..<all.count { positions[all[position].key] = position }
    }
}

extension OrderedFields: Sendable where Value: Sendable {}
