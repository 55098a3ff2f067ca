import ErrandJSONValidation

/// Finds the tags of a schema's gates, as far as the compile budget lasts.
struct SchemaTagFinder {
    static let minimumBranches = 3
    /// The maximum number of schemas searched for a branch's claims, of claims per branch, and of values per claim.
    private static let (maximumParts, maximumClaims, maximumValues) = (16, 8, 64)

    private var nodes: [SchemaNode]
    private let objects: [SchemaObjectRule]
    private let constants: [SchemaConstants]
    private let spend: (_ steps: Int, _ bytes: Int) -> Bool
    private(set) var tags: [SchemaTag] = []
    private var claims: [Int32: [SchemaTag.Claim]] = [:]
    private var required: [Int32: Set<[UInt8]>] = [:]
    private var known: [Int32: [SchemaTag.Claim]] = [:]
    private var isOver = false

    init(
        nodes: [SchemaNode], objects: [SchemaObjectRule], constants: [SchemaConstants],
        _ spend: @escaping (_ steps: Int, _ bytes: Int) -> Bool
    ) {
        (self.nodes, self.objects, self.constants, self.spend) = (nodes, objects, constants, spend)
    }

    mutating func find() -> [SchemaNode] {
        let isClosed = askers()
        for index in nodes.indices where !isClosed.contains(Int32(index)) {
            for gate in nodes[index].gates.indices {
                if isOver { return nodes }
                let found = nodes[index].gates[gate]
                guard found.kind == .any || found.kind == .one, found.nodes.count >= Self.minimumBranches,
                    let tag = tag(of: found.nodes)
                else { continue }
                take(tag.strings.count * 8, tag.strings.count * 160 + tag.numbers.count * 160)
                if isOver { return nodes }
                nodes[index].gates[gate].tag = Int32(tags.count)
                tags.append(tag)
            }
        }
        return nodes
    }

    /// Returns the schemas with `unevaluatedProperties` and all schemas that they apply to the same value. They don't
    /// get tags, because `unevaluatedProperties` needs the results of all branches.
    private mutating func askers() -> Set<Int32> {
        var open = nodes.indices.map { Int32($0) }.filter { node in
            let object = nodes[Int(node)].object
            return object >= 0 && objects[Int(object)].unevaluated >= 0
        }
        var found = Set(open)
        while let node = open.popLast() {
            for gate in nodes[Int(node)].gates {
                take(1 + gate.nodes.count)
                for next in gate.nodes where found.insert(next).inserted { open.append(next) }
            }
        }
        return found
    }

    private mutating func take(_ steps: Int, _ bytes: Int = 0) {
        if !isOver, !spend(steps, bytes) { isOver = true }
    }

    private mutating func tag(of branches: [Int32]) -> SchemaTag? {
        let all = branches.map { claims(of: $0) }
        take(branches.count * 4)
        var byKey: [[UInt8]: [(branch: Int, claim: SchemaTag.Claim)]] = [:]
        for (branch, claims) in all.enumerated() {
            for claim in claims { byKey[claim.key, default: []].append((branch, claim)) }
        }
        var best: (worst: Int, key: [UInt8], claims: [SchemaTag.Claim?])?
        for (key, found) in byKey where found.count >= 2 {
            if isOver { return nil }
            var claims = [SchemaTag.Claim?](repeating: nil, count: branches.count)
            take(branches.count + found.reduce(0) { $0 + $1.claim.count })
            // If a branch has two claims on the key, a value must meet both of them, so it's enough to keep one.
            for (branch, claim) in found.reversed() { claims[branch] = claim }
            let worst = SchemaTag.worst(claims)
            if let best, (best.worst, best.key.count) < (worst, key.count) { continue }
            if let best, (best.worst, best.key.count) == (worst, key.count), best.key.lexicographicallyPrecedes(key) {
                continue
            }
            best = (worst, key, claims)
        }
        return best.flatMap { SchemaTag($0.key, $0.claims) }
    }

    private mutating func claims(of node: Int32) -> [SchemaTag.Claim] {
        if let known = known[node] { return known }
        let parts = parts(of: node).filter { nodes[Int($0)].object >= 0 }.map { nodes[Int($0)].object }
        var found: [SchemaTag.Claim] = []
        for part in parts where found.count < Self.maximumClaims { found += ownClaims(of: part) }
        for index in found.indices {
            found[index].isRequired = parts.contains { requires($0, found[index].key) }
        }
        take(24, 200 + found.count * 160)
        known[node] = found
        return found
    }

    private mutating func ownClaims(of object: Int32) -> [SchemaTag.Claim] {
        if let known = claims[object] { return known }
        let properties = objects[Int(object)].properties
        take(properties.count)
        var found: [SchemaTag.Claim] = []
        for (key, node) in properties where !isOver {
            guard let values = constants(of: node) else { continue }
            found.append(SchemaTag.Claim(key: key, values: values, isRequired: false))
        }
        // Sorts by length and then by bytes, because a dictionary's order is random.
        found.sort {
            $0.key.count == $1.key.count ? $0.key.lexicographicallyPrecedes($1.key) : $0.key.count < $1.key.count
        }
        found = Array(found.prefix(Self.maximumClaims))
        claims[object] = found
        return found
    }

    private mutating func constants(of node: Int32) -> SchemaConstants? {
        for part in parts(of: node) {
            for number in [nodes[Int(part)].constant, nodes[Int(part)].enumeration] where number >= 0 {
                let values = constants[Int(number)]
                let count = values.strings.count + values.numbers.count
                if values.composites.isEmpty, count <= Self.maximumValues { return values }
            }
        }
        return nil
    }

    private mutating func requires(_ object: Int32, _ key: [UInt8]) -> Bool {
        if let known = required[object] { return known.contains(key) }
        let keys = Set(objects[Int(object)].required)
        take(keys.count * 4)
        required[object] = keys
        return keys.contains(key)
    }

    /// Returns a schema and the schemas that it always applies, up to `maximumParts`.
    private mutating func parts(of node: Int32) -> [Int32] {
        var found = [node]
        var next = 0
        while next < found.count, found.count < Self.maximumParts {
            for gate in nodes[Int(found[next])].gates where gate.kind == .all {
                found += gate.nodes.prefix(Self.maximumParts - found.count).filter { !found.contains($0) }
            }
            next += 1
        }
        take(found.count)
        return found
    }
}
