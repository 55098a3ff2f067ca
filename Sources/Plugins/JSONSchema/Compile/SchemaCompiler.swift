import ErrandJSONValidation

/// Compiles all schemas that are reachable from a root, once for each of the ``SchemaEnvironments``.
final class SchemaCompiler {
    let registry: SchemaRegistry
    let formats: JSONSchemaFormats
    private(set) var nodes: [SchemaNode] = []
    var numbers: [SchemaNumberRule] = []
    var strings: [SchemaStringRule] = []
    var arrays: [SchemaArrayRule] = []
    var objects: [SchemaObjectRule] = []
    var constants: [SchemaConstants] = []
    private(set) var patterns: [SchemaPattern] = []
    private(set) var tags: [SchemaTag] = []
    private var patternNumbers: [[UInt8]: Int32] = [:]
    private var environments = SchemaEnvironments()
    private var numbersOfNodes: [Key: Int32] = [:]
    private var aliases: [Key: Key] = [:]
    private var waiting: [(node: Int32, environment: Int)] = []

    private struct Key: Hashable {
        var location: SchemaLocation
        var environment: Int
    }

    init(_ registry: SchemaRegistry, formats: JSONSchemaFormats) {
        self.registry = registry
        self.formats = formats
        nodes = [SchemaNode(location: SchemaLocation(document: 0, value: 0))]
    }

    func compile(_ location: SchemaLocation) throws(JSONSchemaError) -> SchemaProgram {
        let root = try node(location, 0)
        try compileWaiting()
        // Schemas that the root doesn't refer to must be valid, too.
        for other in registry.schemas(of: location.document) {
            _ = try node(other, try environments.entering(registry.resource(other), of: registry, from: 0))
            try compileWaiting()
        }
        try SchemaRecursion.check(nodes) { node in
            registry.fault(
                .endlessRecursion, at: nodes[Int(node)].location,
                reason: "refers to itself for the same value, so validation would never end")
        }
        var finder = SchemaTagFinder(nodes: nodes, objects: objects, constants: constants) { [registry] steps, bytes in
            registry.mayTake(steps: steps, bytes: bytes)
        }
        // Releases this reference to the nodes, so the finder can change the array in place instead of copying it.
        nodes = []
        nodes = finder.find()
        tags = finder.tags
        return SchemaProgram(self, root: root)
    }

    private func compileWaiting() throws(JSONSchemaError) {
        while let (node, environment) = waiting.popLast() {
            var reader = KeywordReader(self, location: nodes[Int(node)].location, environment: environment)
            nodes[Int(node)] = try reader.read()
        }
    }

    func node(_ location: SchemaLocation, _ outer: Int) throws(JSONSchemaError) -> Int32 {
        try registry.spend(steps: 50, at: location)
        var (location, environment) = (
            location, try environments.entering(registry.resource(location), of: registry, from: outer)
        )
        // A schema that contains only a `$ref` shares the node of the schema that it refers to. If such schemas form a
        // cycle, the limit ends this loop, and `SchemaRecursion` reports the cycle later.
        var steps = 0
        while steps < 4, let next = try alias(Key(location: location, environment: environment)) {
            (location, environment) = (next.location, next.environment)
            steps += 1
        }
        let key = Key(location: location, environment: environment)
        if let known = numbersOfNodes[key] { return known }
        let document = registry.documents[location.document]
        let kind = document.values[location.value].kind
        if kind == .true || kind == .object && document.values[location.value].count == 0 {
            numbersOfNodes[key] = SchemaProgram.any
            return SchemaProgram.any
        }
        try registry.spend(
            steps: 32 + document.values[location.value].count * 8, bytes: MemoryLayout<SchemaNode>.stride + 96,
            at: location)
        let number = Int32(nodes.count)
        var node = SchemaNode(location: location, resource: registry.resource(location))
        node.isNever = kind == .false
        nodes.append(node)
        numbersOfNodes[key] = number
        if kind == .object { waiting.append((number, environment)) }
        return number
    }

    private func alias(_ key: Key) throws(JSONSchemaError) -> Key? {
        if let known = aliases[key] { return known }
        let location = key.location
        let document = registry.documents[location.document]
        guard document.values[location.value].kind == .object, document.values[location.value].count == 1,
            let value = document.member(location.value, "$ref"), let text = document.string(value)
        else { return nil }
        let here = SchemaLocation(document: location.document, value: value)
        let target = try registry.resolve(text, from: registry.resource(location), at: here).location
        let next = Key(
            location: target,
            environment: try environments.entering(registry.resource(target), of: registry, from: key.environment))
        aliases[key] = next
        return next
    }

    func dynamicNode(
        _ reference: String, at location: SchemaLocation, in resource: Int, _ environment: Int, isRecursive: Bool
    ) throws(JSONSchemaError) -> Int32 {
        let (target, anchor) = try registry.resolve(reference, from: resource, at: location)
        let found = registry.resources[registry.resource(target)].dynamicAnchors
        let name = isRecursive ? SchemaRegistry.recursiveAnchor : anchor
        // A reference is dynamic only if its target is a dynamic anchor, or a resource with a recursive anchor.
        if let name, found[name] == target, let outermost = environments.anchor(name, in: environment) {
            return try node(outermost, environment)
        }
        return try node(target, environment)
    }

    func pattern(_ source: [UInt8], _ location: SchemaLocation) throws(JSONSchemaError) -> Int32 {
        if let known = patternNumbers[source] { return known }
        try registry.spend(steps: source.count, bytes: source.count * 4 + 512, at: location)
        let text = String(decoding: source, as: UTF8.self)
        patterns.append(SchemaPattern(source: text, program: try registry.pattern(text, at: location)))
        patternNumbers[source] = Int32(patterns.count - 1)
        return Int32(patterns.count - 1)
    }
}

/// Finds a schema that applies itself to the same value, directly or through other schemas.
enum SchemaRecursion {
    static func check(_ nodes: [SchemaNode], _ fault: (Int32) -> JSONSchemaError) throws(JSONSchemaError) {
        // 0 if a node is unvisited, 1 if it's on the current path, 2 if it's finished.
        var marks = [UInt8](repeating: 0, count: nodes.count)
        for start in nodes.indices where marks[start] == 0 {
            var path: [(node: Int, gate: Int, branch: Int)] = [(start, 0, 0)]
            marks[start] = 1
            while let (node, gate, branch) = path.last {
                guard gate < nodes[node].gates.count else {
                    marks[node] = 2
                    path.removeLast()
                    continue
                }
                guard branch < nodes[node].gates[gate].nodes.count else {
                    path[path.count - 1] = (node, gate + 1, 0)
                    continue
                }
                path[path.count - 1].branch += 1
                let next = Int(nodes[node].gates[gate].nodes[branch])
                if next < 0 { continue }
                if marks[next] == 1 { throw fault(Int32(next)) }
                if marks[next] == 0 {
                    marks[next] = 1
                    path.append((next, 0, 0))
                }
            }
        }
    }
}

/// The environments for resolving dynamic references. An environment maps each name to its anchor in the outermost
/// resource that validation has entered. Equal environments have the same number, and the empty one has number 0.
struct SchemaEnvironments {
    /// For each environment, a location number at the index of each name's number, or -1. Entries at the end may be
    /// missing.
    private var all: [[Int32]] = [[]]
    private var numbers: [[Int32]: Int] = [[]: 0]
    private var entered: [Key: Int] = [:]
    private var names: [String: Int] = [:]
    private var locations: [SchemaLocation] = []
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
