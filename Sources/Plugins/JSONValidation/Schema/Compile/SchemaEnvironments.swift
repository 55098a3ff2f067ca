/// The environments that dynamic references are resolved in: for each name the anchor of the outermost resource that
/// validation has entered. Equal ones have the same number; 0 is the empty one.
struct SchemaEnvironments {
    private var all: [[String: SchemaPlace]] = [[:]]
    private var numbers: [[String: SchemaPlace]: Int] = [[:]: 0]
    private var entered: [Key: Int] = [:]

    private struct Key: Hashable {
        var environment: Int
        var resource: Int
    }

    func anchor(_ name: String, in environment: Int) -> SchemaPlace? { all[environment][name] }

    /// The environment after entering a resource.
    mutating func entering(_ resource: Int, of registry: SchemaRegistry, from environment: Int) -> Int {
        let anchors = registry.resources[resource].dynamicAnchors
        if anchors.isEmpty { return environment }
        let key = Key(environment: environment, resource: resource)
        if let known = entered[key] { return known }
        let new = all[environment].merging(anchors) { outer, _ in outer }
        let number = numbers[new] ?? all.count
        if number == all.count {
            all.append(new)
            numbers[new] = number
        }
        entered[key] = number
        return number
    }
}
