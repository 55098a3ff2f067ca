/// Validates according to the text of draft 2020-12, one keyword after the other, without regard to speed.
struct SchemaOracle {
    /// A schema's verdict on a value: whether it fits, and which keys and elements the schema evaluated.
    struct Verdict {
        var fits = true
        var keys: Set<String> = []
        var elements: Set<Int> = []

        /// Drops annotations of a schema that doesn't fit.
        mutating func merge(_ other: Verdict) {
            guard other.fits else { return }
            keys.formUnion(other.keys)
            elements.formUnion(other.elements)
        }
    }

    /// The schema from which `$ref` and `$id` are resolved.
    let root: SchemaTree

    /// The dynamic scope starts with the root.
    func fits(_ instance: SchemaTree) -> Bool { judge(root, instance, [root]).fits }

    private func judge(_ schema: SchemaTree, _ instance: SchemaTree, _ outer: [SchemaTree]) -> Verdict {
        if case .boolean(let value) = schema { return Verdict(fits: value) }
        var verdict = Verdict()
        var scope = outer
        // A schema with an identifier is a separate resource.
        if schema["$id"] != nil { scope.append(schema) }
        applyReferences(schema, instance, scope, &verdict)
        assert(schema, instance, &verdict)
        applyInPlace(schema, instance, scope, &verdict)
        applyToArray(schema, instance, scope, &verdict)
        applyToObject(schema, instance, scope, &verdict)
        applyUnevaluated(schema, instance, scope, &verdict)
        return verdict
    }

    // MARK: References

    private func applyReferences(
        _ schema: SchemaTree, _ instance: SchemaTree, _ scope: [SchemaTree], _ verdict: inout Verdict
    ) {
        if let reference = schema["$ref"]?.text, let (target, resource) = resolve(reference, scope) {
            apply(judge(target, instance, resource.map { scope + [$0] } ?? scope), &verdict)
        }
        if let reference = schema["$dynamicRef"]?.text, let current = scope.last {
            let name = String(reference.dropFirst())
            // A reference is dynamic only if the current resource has such an anchor.
            guard let initial = Self.anchor(name, in: current) else { return }
            let place = scope.firstIndex { Self.anchor(name, in: $0) != nil } ?? scope.count - 1
            let target = Self.anchor(name, in: scope[place]) ?? initial
            apply(judge(target, instance, scope + [scope[place]]), &verdict)
        }
    }

    private func apply(_ other: Verdict, _ verdict: inout Verdict) {
        if !other.fits { verdict.fits = false }
        verdict.merge(other)
    }

    /// Resolves `#/$defs/x` to a definition of the current resource, and `x` to the resource with this identifier,
    /// which it enters.
    private func resolve(_ reference: String, _ scope: [SchemaTree]) -> (SchemaTree, SchemaTree?)? {
        if reference == "#" { return scope.last.map { ($0, nil) } }
        if reference.hasPrefix("#/$defs/") {
            return scope.last?["$defs"]?[String(reference.dropFirst(8))].map { ($0, nil) }
        }
        let found = root["$defs"]?.members.first { $0.value["$id"]?.text == reference }
        return found.map { ($0.value, nil) }
    }

    /// Returns the schema with a dynamic anchor in a resource, without searching nested resources.
    private static func anchor(_ name: String, in resource: SchemaTree) -> SchemaTree? {
        if resource["$dynamicAnchor"]?.text == name { return resource }
        return resource["$defs"]?.members.first { $0.value["$id"] == nil && $0.value["$dynamicAnchor"]?.text == name }?
            .value
    }

    // MARK: Assertions

    private func assert(_ schema: SchemaTree, _ instance: SchemaTree, _ verdict: inout Verdict) {
        func require(_ holds: Bool) { if !holds { verdict.fits = false } }
        if let type = schema["type"] {
            let names = type.text.map { [$0] } ?? type.elements.compactMap(\.text)
            require(names.contains { Self.isOf($0, instance) })
        }
        if let constant = schema["const"] { require(instance.equals(constant)) }
        if let values = schema["enum"] { require(values.elements.contains { instance.equals($0) }) }
        switch instance {
        case .number(let value):
            if case .number(let bound)? = schema["minimum"] { require(value >= bound) }
            if case .number(let bound)? = schema["maximum"] { require(value <= bound) }
            if case .number(let bound)? = schema["exclusiveMinimum"] { require(value > bound) }
            if case .number(let bound)? = schema["exclusiveMaximum"] { require(value < bound) }
            if case .number(let divisor)? = schema["multipleOf"] { require(value % divisor == 0) }
        case .string(let text):
            let length = text.unicodeScalars.count
            if let bound = schema["minLength"]?.integer { require(length >= bound) }
            if let bound = schema["maxLength"]?.integer { require(length <= bound) }
            if let pattern = schema["pattern"]?.text { require(Self.matches(pattern, text)) }
        case .array(let elements):
            if let bound = schema["minItems"]?.integer { require(elements.count >= bound) }
            if let bound = schema["maxItems"]?.integer { require(elements.count <= bound) }
            if schema["uniqueItems"]?.isTrue == true {
                for (index, element) in elements.enumerated() {
                    for other in elements[..<index] { require(!element.equals(other)) }
                }
            }
        case .object(let members):
            if let bound = schema["minProperties"]?.integer { require(members.count >= bound) }
            if let bound = schema["maxProperties"]?.integer { require(members.count <= bound) }
            for key in schema["required"]?.elements ?? [] { require(instance[key.text ?? ""] != nil) }
            for pair in schema["dependentRequired"]?.members ?? [] where instance[pair.key] != nil {
                for key in pair.value.elements { require(instance[key.text ?? ""] != nil) }
            }
        default: break
        }
    }

    private static func isOf(_ type: String, _ instance: SchemaTree) -> Bool {
        switch (type, instance) {
        case ("null", .null), ("boolean", .boolean), ("number", .number), ("string", .string), ("array", .array),
            ("object", .object):
            true
        case ("integer", .number(let value)): value % 1_000 == 0
        default: false
        }
    }

    /// Implements the patterns in use by hand.
    static func matches(_ pattern: String, _ text: String) -> Bool {
        let scalars = text.unicodeScalars
        switch pattern {
        case "^a": return scalars.first == "a"
        case "b$": return scalars.last == "b"
        case "^[ab]*$": return scalars.allSatisfy { $0 == "a" || $0 == "b" }
        case "\\d": return scalars.contains { ("0"..."9").contains($0) }
        case "^.$": return scalars.count == 1
        case "a|\u{e9}": return scalars.contains { $0 == "a" || $0 == "\u{e9}" }
        default: return false
        }
    }

    // MARK: Applicators

    private func applyInPlace(
        _ schema: SchemaTree, _ instance: SchemaTree, _ scope: [SchemaTree], _ verdict: inout Verdict
    ) {
        for part in schema["allOf"]?.elements ?? [] { apply(judge(part, instance, scope), &verdict) }
        for (keyword, isOne) in [("anyOf", false), ("oneOf", true)] {
            guard let parts = schema[keyword]?.elements else { continue }
            let verdicts = parts.map { judge($0, instance, scope) }
            let count = verdicts.count(where: \.fits)
            if isOne ? count != 1 : count == 0 { verdict.fits = false }
            for part in verdicts { verdict.merge(part) }
        }
        if let part = schema["not"], judge(part, instance, scope).fits { verdict.fits = false }
        if let condition = schema["if"] {
            let holds = judge(condition, instance, scope)
            verdict.merge(holds)
            if let branch = schema[holds.fits ? "then" : "else"] { apply(judge(branch, instance, scope), &verdict) }
        }
        for pair in schema["dependentSchemas"]?.members ?? [] where instance[pair.key] != nil {
            apply(judge(pair.value, instance, scope), &verdict)
        }
    }

    private func applyToArray(
        _ schema: SchemaTree, _ instance: SchemaTree, _ scope: [SchemaTree], _ verdict: inout Verdict
    ) {
        guard case .array(let elements) = instance else { return }
        let prefix = schema["prefixItems"]?.elements ?? []
        for (index, element) in elements.enumerated() {
            guard let part = index < prefix.count ? prefix[index] : schema["items"] else { continue }
            if !judge(part, element, scope).fits { verdict.fits = false }
            verdict.elements.insert(index)
        }
        guard let part = schema["contains"] else { return }
        let found = elements.indices.filter { judge(part, elements[$0], scope).fits }
        verdict.elements.formUnion(found)
        if found.count < schema["minContains"]?.integer ?? 1 { verdict.fits = false }
        if found.count > schema["maxContains"]?.integer ?? .max { verdict.fits = false }
    }

    private func applyToObject(
        _ schema: SchemaTree, _ instance: SchemaTree, _ scope: [SchemaTree], _ verdict: inout Verdict
    ) {
        guard case .object(let members) = instance else { return }
        for member in members {
            if let names = schema["propertyNames"], !judge(names, .string(member.key), scope).fits {
                verdict.fits = false
            }
            var parts: [SchemaTree] = []
            if let part = schema["properties"]?[member.key] { parts.append(part) }
            for pair in schema["patternProperties"]?.members ?? [] where Self.matches(pair.key, member.key) {
                parts.append(pair.value)
            }
            if parts.isEmpty, let part = schema["additionalProperties"] { parts.append(part) }
            for part in parts where !judge(part, member.value, scope).fits { verdict.fits = false }
            if !parts.isEmpty { verdict.keys.insert(member.key) }
        }
    }

    private func applyUnevaluated(
        _ schema: SchemaTree, _ instance: SchemaTree, _ scope: [SchemaTree], _ verdict: inout Verdict
    ) {
        if let part = schema["unevaluatedItems"], case .array(let elements) = instance {
            for (index, element) in elements.enumerated() where !verdict.elements.contains(index) {
                if !judge(part, element, scope).fits { verdict.fits = false }
            }
            verdict.elements.formUnion(elements.indices)
        }
        if let part = schema["unevaluatedProperties"], case .object(let members) = instance {
            for member in members where !verdict.keys.contains(member.key) {
                if !judge(part, member.value, scope).fits { verdict.fits = false }
            }
            verdict.keys.formUnion(members.map(\.key))
        }
    }
}
