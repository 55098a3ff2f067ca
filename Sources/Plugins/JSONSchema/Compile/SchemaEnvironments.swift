/// The environments that dynamic references are resolved in: for each name the anchor of the outermost resource that
/// validation has entered. Equal ones have the same number; 0 is the empty one.
struct SchemaEnvironments {
    /// For each environment and name the number of the place; -1 for a name without one, as for those behind the last.
    private var all: [[Int32]] = [[]]
    private var numbers: [[Int32]: Int] = [[]: 0]
    private var entered: [Key: Int] = [:]
    private var names: [String: Int] = [:]
    private var locations: [SchemaLocation] = []
    /// The anchors of each resource that was entered, as numbers of names and places.
    private var anchors: [Int: [(name: Int, location: Int32)]] = [:]

    private struct Key: Hashable {
        var environment: Int
        var resource: Int
    }

    func anchor(_ name: String, in environment: Int) -> SchemaLocation? {
        guard let number = names[name], number < all[environment].count, all[environment][number] >= 0 else {
            return nil
        }
        return locations[Int(all[environment][number])]
    }

    /// The environment after entering a resource.
    mutating func entering(
        _ resource: Int, of registry: SchemaRegistry, from environment: Int
    ) throws(JSONSchemaError) -> Int {
        if registry.resources[resource].dynamicAnchors.isEmpty { return environment }
        let key = Key(environment: environment, resource: resource)
        if let known = entered[key] { return known }
        let root = registry.resources[resource].root
        let anchors = anchors(of: resource, registry)
        try registry.spend(steps: 50 + (anchors.count + all[environment].count) * 4, bytes: 128, at: root)
        var new = all[environment]
        for (name, location) in anchors {
            while new.count <= name { new.append(-1) }
            if new[name] < 0 { new[name] = location }
        }
        let number = numbers[new] ?? all.count
        if number == all.count {
            try registry.spend(steps: 0, bytes: new.count * 8 + 128, at: root)
            all.append(new)
            numbers[new] = number
        }
        entered[key] = number
        return number
    }

    private mutating func anchors(of resource: Int, _ registry: SchemaRegistry) -> [(name: Int, location: Int32)] {
        if let known = anchors[resource] { return known }
        var found: [(name: Int, location: Int32)] = []
        for (name, location) in registry.resources[resource].dynamicAnchors {
            let number = names[name] ?? names.count
            names[name] = number
            found.append((number, Int32(locations.count)))
            locations.append(location)
        }
        anchors[resource] = found
        return found
    }
}
