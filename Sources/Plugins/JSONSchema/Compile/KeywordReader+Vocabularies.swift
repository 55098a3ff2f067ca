import ErrandEssentials
import ErrandJSONValidation

extension KeywordReader {
    /// Reads a keyword that applies other schemas (2020-12 core, section 10). Like the methods below, returns `false`
    /// for a keyword from another vocabulary.
    mutating func applicator(_ keyword: String, _ value: Int) throws(JSONSchemaError) -> Bool {
        let is2020 = vocabulary.draft == .draft2020_12
        switch keyword {
        case "allOf": gate(.all, nodes: try schemas(value), keyword: keyword)
        case "anyOf": gate(.any, nodes: try schemas(value), keyword: keyword)
        case "oneOf": gate(.one, nodes: try schemas(value), keyword: keyword)
        case "not": gate(.not, nodes: [try schema(value)], keyword: keyword)
        case "if", "then", "else": _ = try schema(value)
        case "additionalItems" where !is2020: _ = try schema(value)
        case "dependentSchemas" where vocabulary.draft != .draft7:
            for (key, schema) in try members(value) {
                gate(.dependent, nodes: [try self.schema(schema)], keyword: keyword + token(key), key: key)
            }
        case "dependencies":
            for (key, other) in try members(value) {
                if document.values[other].kind == .array {
                    object.dependentRequired.append((key, try keys(other)))
                } else {
                    gate(.dependent, nodes: [try schema(other)], keyword: keyword + token(key), key: key)
                }
            }
        case "properties":
            try compiler.registry.spend(steps: 0, bytes: document.values[value].count * 64, at: here(value))
            for (key, schema) in try members(value) { object.properties[key] = try self.schema(schema) }
        case "patternProperties":
            try compiler.registry.spend(steps: 0, bytes: document.values[value].count * 16, at: here(value))
            for (key, schema) in try members(value) {
                object.patterns.append((try compiler.pattern(key, here(schema)), try self.schema(schema)))
            }
        case "additionalProperties": object.additional = try schema(value)
        case "propertyNames": object.names = try schema(value)
        case "prefixItems" where is2020: array.prefix = try schemas(value)
        case "items":
            if !is2020, document.values[value].kind == .array {
                array.prefix = try schemas(value)
            } else {
                array.items = try schema(value)
            }
        case "contains": array.contains = try schema(value)
        default: return false
        }
        return true
    }

    /// Reads keywords whose meaning depends on other keywords.
    mutating func joint() throws(JSONSchemaError) {
        if let value = document.member(location.value, "if") {
            let (then, otherwise) = (
                document.member(location.value, "then"), document.member(location.value, "else")
            )
            var branches: [Int32] = [try schema(value), SchemaProgram.any, SchemaProgram.any]
            if let then { branches[1] = try schema(then) }
            if let otherwise { branches[2] = try schema(otherwise) }
            gate(.condition, nodes: branches, keyword: "if")
        }
        if vocabulary.draft != .draft2020_12, let items = document.member(location.value, "items"),
            document.values[items].kind == .array, let value = document.member(location.value, "additionalItems")
        {
            array.items = try schema(value)
            array.itemsKeyword = "/additionalItems"
        }
        if vocabulary.hasValidation, vocabulary.draft != .draft7, array.contains >= 0 {
            if let value = document.member(location.value, "minContains") { array.minimumContained = try count(value) }
            if let value = document.member(location.value, "maxContains") { array.maximumContained = try count(value) }
        }
        array.containsEvaluates = vocabulary.draft == .draft2020_12
    }

    /// 2020-12 core, section 11.
    mutating func unevaluated(_ keyword: String, _ value: Int) throws(JSONSchemaError) -> Bool {
        switch keyword {
        case "unevaluatedItems": array.unevaluated = try schema(value)
        case "unevaluatedProperties": object.unevaluated = try schema(value)
        default: return false
        }
        return true
    }

    /// 2020-12 validation, section 6.
    mutating func assertion(_ keyword: String, _ value: Int) throws(JSONSchemaError) -> Bool {
        switch keyword {
        case "type": try type(value)
        case "enum":
            guard document.values[value].kind == .array else { throw fault(value, "expected an array") }
            node.enumeration = try constants(Array(document.elements(value)), isConst: false)
        case "const": node.constant = try constants([value], isConst: true)
        case "multipleOf":
            let divisor = try decimal(value)
            if divisor.isZero || divisor.isNegative { throw fault(value, "expected a number above 0") }
            number.multipleOf = divisor
        case "minimum": number.minimum = try decimal(value)
        case "maximum": number.maximum = try decimal(value)
        case "exclusiveMinimum": number.exclusiveMinimum = try decimal(value)
        case "exclusiveMaximum": number.exclusiveMaximum = try decimal(value)
        case "minLength": string.minimum = try count(value)
        case "maxLength": string.maximum = try count(value)
        case "pattern":
            guard let source = document.stringBytes(value) else { throw fault(value, "expected a string") }
            string.pattern = try compiler.pattern(source, here(value))
        case "minItems": array.minimum = try count(value)
        case "maxItems": array.maximum = try count(value)
        case "uniqueItems": array.isUnique = try flag(value)
        case "minContains" where vocabulary.draft != .draft7, "maxContains" where vocabulary.draft != .draft7:
            _ = try count(value)
        case "minProperties": object.minimum = try count(value)
        case "maxProperties": object.maximum = try count(value)
        case "required": object.required = try keys(value)
        case "dependentRequired" where vocabulary.draft != .draft7:
            for (key, other) in try members(value) { object.dependentRequired.append((key, try keys(other))) }
        default: return false
        }
        return true
    }

    private mutating func type(_ value: Int) throws(JSONSchemaError) {
        let isList = document.values[value].kind == .array
        node.kinds = 0
        var hasNumber = false
        var known: Set<String> = []
        for element in isList ? Array(document.elements(value)) : [value] {
            let name = document.string(element)
            if let name, !known.insert(name).inserted { throw fault(element, "expected each type once") }
            switch name {
            case "null": node.kinds |= ValueKind.null
            case "boolean": node.kinds |= ValueKind.boolean
            case "string": node.kinds |= ValueKind.string
            case "array": node.kinds |= ValueKind.array
            case "object": node.kinds |= ValueKind.object
            case "number":
                node.kinds |= ValueKind.number
                hasNumber = true
            case "integer":
                node.kinds |= ValueKind.number
                node.isIntegral = true
            default: throw fault(element, "expected the name of a type")
            }
        }
        if node.kinds == 0 { throw fault(value, "expected at least one type") }
        if hasNumber { node.isIntegral = false }
    }

    mutating func annotation(_ keyword: String, _ value: Int) throws(JSONSchemaError) {
        switch keyword {
        case "title", "description", "contentEncoding", "contentMediaType": try expectText(value)
        case "readOnly", "writeOnly": _ = try flag(value)
        case "deprecated" where vocabulary.draft != .draft7: _ = try flag(value)
        case "examples":
            guard document.values[value].kind == .array else { throw fault(value, "expected an array") }
        case "format":
            let name = try text(value)
            if compiler.formats == .assertion || vocabulary.assertsFormats {
                string.format = JSONFormat(rawValue: name)
            }
        default: break
        }
        // Every keyword that reaches this line is an annotation, because other methods have already read the keywords
        // with another meaning.
        node.annotations.append(SchemaAnnotation(keyword: keyword, value: value))
    }
}
