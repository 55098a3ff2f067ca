import ErrandJSONValidation

struct KeywordReader {
    let compiler: SchemaCompiler
    let document: SchemaDocument
    let location: SchemaLocation
    let environment: Int
    let resource: Int
    let vocabulary: SchemaVocabulary
    var node: SchemaNode
    var number = SchemaNumberRule()
    var string = SchemaStringRule()
    var array = SchemaArrayRule()
    var object = SchemaObjectRule()

    init(_ compiler: SchemaCompiler, location: SchemaLocation, environment: Int) {
        self.compiler = compiler
        self.location = location
        self.environment = environment
        document = compiler.registry.documents[location.document]
        resource = compiler.registry.resource(location)
        vocabulary = compiler.registry.resources[resource].vocabulary
        node = SchemaNode(location: location, resource: resource)
    }

    mutating func read() throws(JSONSchemaError) -> SchemaNode {
        // Draft 7 ignores all keywords next to `$ref`.
        if vocabulary.draft == .draft7, let value = document.member(location.value, "$ref") {
            try reference("$ref", value)
            return node
        }
        for (key, value) in document.members(location.value) {
            let keyword = String(decoding: key, as: UTF8.self)
            if try core(keyword, value) { continue }
            if vocabulary.hasApplicators, try applicator(keyword, value) { continue }
            if vocabulary.hasUnevaluated, try unevaluated(keyword, value) { continue }
            if vocabulary.hasValidation, try assertion(keyword, value) { continue }
            try annotation(keyword, value)
        }
        if vocabulary.hasApplicators { try joint() }
        finish()
        return node
    }

    // MARK: Values

    func here(_ value: Int) -> SchemaLocation { SchemaLocation(document: location.document, value: value) }

    func fault(_ value: Int, _ reason: String) -> JSONSchemaError {
        compiler.registry.fault(.invalidKeyword, at: here(value), reason: reason)
    }

    func text(_ value: Int) throws(JSONSchemaError) -> String {
        guard let text = document.string(value) else { throw fault(value, "expected a string") }
        return text
    }

    func expectText(_ value: Int) throws(JSONSchemaError) {
        if document.values[value].kind != .string { throw fault(value, "expected a string") }
    }

    func decimal(_ value: Int) throws(JSONSchemaError) -> ExactDecimal {
        guard document.values[value].kind == .number else { throw fault(value, "expected a number") }
        let decimal = document.text(value) { ExactDecimal($0, $1) }
        if decimal.digitCount > 1_000 {
            throw compiler.registry.fault(.tooLarge, at: here(value), reason: "has more than 1,000 digits")
        }
        return decimal
    }

    /// Returns `Int.max` for integers beyond `Int`.
    func count(_ value: Int) throws(JSONSchemaError) -> Int {
        let decimal =
            document.values[value].kind == .number ? document.text(value) { ExactDecimal($0, $1) } : nil
        guard let decimal, decimal.isIntegral, !decimal.isNegative else {
            throw fault(value, "expected a nonnegative integer")
        }
        return decimal.integer ?? Int.max
    }

    func keys(_ value: Int) throws(JSONSchemaError) -> [[UInt8]] {
        guard document.values[value].kind == .array else { throw fault(value, "expected an array of strings") }
        var keys: [[UInt8]] = []
        var known: Set<[UInt8]> = []
        try spend(value, document.values[value].count)
        for element in document.elements(value) {
            guard let key = document.stringBytes(element) else { throw fault(element, "expected a string") }
            guard known.insert(key).inserted else { throw fault(element, "expected each key once") }
            keys.append(key)
        }
        return keys
    }

    func spend(_ value: Int, _ parts: Int) throws(JSONSchemaError) {
        let bytes = document.values[value].end - document.values[value].start
        try compiler.registry.spend(steps: parts * 4 + bytes / 8, bytes: parts * 96 + bytes, at: here(value))
    }

    func schema(_ value: Int) throws(JSONSchemaError) -> Int32 {
        switch document.values[value].kind {
        case .object, .true, .false: return try compiler.node(here(value), environment)
        default: throw fault(value, "expected a schema: an object or a boolean")
        }
    }

    func schemas(_ value: Int) throws(JSONSchemaError) -> [Int32] {
        guard document.values[value].kind == .array, document.values[value].count > 0 else {
            throw fault(value, "expected an array of schemas")
        }
        var nodes: [Int32] = []
        try compiler.registry.spend(steps: 0, bytes: document.values[value].count * 8, at: here(value))
        for element in document.elements(value) { nodes.append(try schema(element)) }
        return nodes
    }

    func members(_ value: Int) throws(JSONSchemaError) -> [(key: [UInt8], value: Int)] {
        guard document.values[value].kind == .object else { throw fault(value, "expected an object") }
        return document.members(value)
    }

    func flag(_ value: Int) throws(JSONSchemaError) -> Bool {
        switch document.values[value].kind {
        case .true: true
        case .false: false
        default: throw fault(value, "expected a boolean")
        }
    }

    func token(_ key: [UInt8]) -> String { JSONPointer.appending(String(decoding: key, as: UTF8.self), to: "") }

    // MARK: Core keywords and stored rules

    private mutating func core(_ keyword: String, _ value: Int) throws(JSONSchemaError) -> Bool {
        switch (keyword, vocabulary.draft) {
        case ("$ref", _): try reference(keyword, value)
        case ("$dynamicRef", .draft2020_12), ("$recursiveRef", .draft2019_09):
            let isRecursive = keyword == "$recursiveRef"
            let text = try text(value)
            if isRecursive, text != "#" { throw fault(value, "expected \"#\"") }
            let target = try compiler.dynamicNode(
                text, at: here(value), in: resource, environment, isRecursive: isRecursive)
            gate(.all, nodes: [target], keyword: keyword)
        case ("$comment", _): try expectText(value)
        case ("$id", _), ("$schema", _), ("$anchor", _), ("$dynamicAnchor", _), ("$recursiveAnchor", _), ("$defs", _),
            ("$vocabulary", _), ("definitions", _):
            break
        default: return false
        }
        return true
    }

    private mutating func reference(_ keyword: String, _ value: Int) throws(JSONSchemaError) {
        let target = try compiler.registry.resolve(try text(value), from: resource, at: here(value)).location
        gate(.all, nodes: [try compiler.node(target, environment)], keyword: keyword)
    }

    mutating func gate(_ kind: SchemaGate.Kind, nodes: [Int32], keyword: String, key: [UInt8] = []) {
        node.gates.append(SchemaGate(kind: kind, nodes: nodes, keyword: "/\(keyword)", key: key))
    }

    private mutating func finish() {
        if number.minimum != nil || number.exclusiveMinimum != nil || number.maximum != nil
            || number.exclusiveMaximum != nil || number.multipleOf != nil
        {
            number.makeFast()
            compiler.numbers.append(number)
            node.number = Int32(compiler.numbers.count - 1)
        }
        if string.minimum > 0 || string.maximum < .max || string.pattern >= 0 || string.format != nil {
            compiler.strings.append(string)
            node.string = Int32(compiler.strings.count - 1)
        }
        if array.appliesToElements || array.minimum > 0 || array.maximum < .max || array.isUnique {
            compiler.arrays.append(array)
            node.array = Int32(compiler.arrays.count - 1)
        }
        if object.appliesToMembers || object.names >= 0 || object.minimum > 0 || object.maximum < .max
            || !object.required.isEmpty || !object.dependentRequired.isEmpty
        {
            compiler.objects.append(object)
            node.object = Int32(compiler.objects.count - 1)
        }
    }

    mutating func constants(_ values: [Int], isConst: Bool) throws(JSONSchemaError) -> Int32 {
        for value in values { try spend(value, 1) }
        var found = SchemaConstants(isConst: isConst)
        for value in values {
            switch document.values[value].kind {
            case .null: found.literals |= ValueKind.null
            case .true: found.literals |= ValueKind.true
            case .false: found.literals |= ValueKind.false
            case .string:
                let bytes = document.stringBytes(value) ?? []
                found.strings[KeyHash.hash(bytes), default: []].append(bytes)
                found.kinds |= ValueKind.string
            case .number:
                found.numbers.insert(document.text(value) { ExactDecimal($0, $1) })
                found.kinds |= ValueKind.number
            case .array, .object:
                let range = document.values[value].start..<document.values[value].end
                let digest = document.text(value) { ValueHash.shared.digest($0, $1) }
                found.composites[digest, default: []].append(Array(document.bytes[range]))
                found.kinds |= document.values[value].kind == .array ? ValueKind.array : ValueKind.object
            }
            if found.words.count < 12 {
                let text = String(decoding: document.data(value).prefix(100), as: UTF8.self)
                found.words.append(MessageText.shown(text, limit: 60))
            }
        }
        found.kinds |= found.literals
        if values.count > 12 { found.words.append("others") }
        compiler.constants.append(found)
        return Int32(compiler.constants.count - 1)
    }
}

extension SchemaNumberRule {
    /// Sets up the fast check of integers, if every bound is an integer of at most 18 digits and the schema doesn't
    /// have a `multipleOf`.
    mutating func makeFast() {
        guard multipleOf == nil else { return }
        for (bound, isExclusive) in [(minimum, false), (exclusiveMinimum, true)] {
            guard let bound else { continue }
            guard let value = bound.shortInteger else { return }
            least = max(least, isExclusive ? value + 1 : value)
        }
        for (bound, isExclusive) in [(maximum, false), (exclusiveMaximum, true)] {
            guard let bound else { continue }
            guard let value = bound.shortInteger else { return }
            most = min(most, isExclusive ? value - 1 : value)
        }
        isFast = true
    }
}
