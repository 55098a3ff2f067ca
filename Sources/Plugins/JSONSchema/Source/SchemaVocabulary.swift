/// A schema resource's draft and the vocabularies in use.
struct SchemaVocabulary: Sendable, Hashable {
    var draft: JSONSchemaDialect
    var hasApplicators = true
    var hasUnevaluated = true
    var hasValidation = true
    var assertsFormats = false

    init(_ draft: JSONSchemaDialect) {
        self.draft = draft
        hasUnevaluated = draft != .draft7
    }

    /// `uri` has no fragment. Returns `nil` for unknown URIs.
    static func standard(_ uri: String) -> SchemaVocabulary? {
        let name = uri.hasPrefix("http://") ? uri.dropFirst(7) : uri.hasPrefix("https://") ? uri.dropFirst(8) : uri[...]
        return switch name {
        case "json-schema.org/draft-07/schema", "json-schema.org/draft-06/schema": SchemaVocabulary(.draft7)
        case "json-schema.org/draft/2019-09/schema": SchemaVocabulary(.draft2019_09)
        case "json-schema.org/draft/2020-12/schema": SchemaVocabulary(.draft2020_12)
        // OpenAPI 3.1's base dialect only adds annotations.
        case "spec.openapis.org/oas/3.1/dialect/base": SchemaVocabulary(.draft2020_12)
        default: nil
        }
    }

    /// Returns `nil` and the name of a required vocabulary if it's unknown.
    static func custom(_ vocabularies: [(uri: String, isRequired: Bool)]) -> (SchemaVocabulary?, unknown: String) {
        var isNewer = true
        var names: Set<String> = []
        for (uri, isRequired) in vocabularies {
            let newer = "https://json-schema.org/draft/2020-12/vocab/"
            let older = "https://json-schema.org/draft/2019-09/vocab/"
            if uri.hasPrefix(newer) {
                names.insert(String(uri.dropFirst(newer.count)))
            } else if uri.hasPrefix(older) {
                isNewer = false
                let name = String(uri.dropFirst(older.count))
                // In draft 2019-09, `format` is only an annotation, unless its vocabulary is required.
                names.insert(name == "format" && isRequired ? "format-assertion" : name)
            } else if isRequired {
                return (nil, uri)
            }
        }
        var found = SchemaVocabulary(isNewer ? .draft2020_12 : .draft2019_09)
        found.hasApplicators = names.contains("applicator")
        found.hasUnevaluated = names.contains("unevaluated") || !isNewer && names.contains("applicator")
        found.hasValidation = names.contains("validation")
        found.assertsFormats = names.contains("format-assertion")
        return (found, "")
    }

    enum Position { case schema, list, map, schemaOrList, dependencies }

    func position(of keyword: String) -> Position? {
        switch keyword {
        case "not", "if", "then", "else", "contains", "additionalProperties", "propertyNames": .schema
        case "allOf", "anyOf", "oneOf": .list
        case "properties", "patternProperties", "definitions": .map
        case "dependencies": .dependencies
        case "items": draft == .draft2020_12 ? .schema : .schemaOrList
        case "additionalItems": draft == .draft2020_12 ? nil : .schema
        case "prefixItems": draft == .draft2020_12 ? .list : nil
        case "$defs", "dependentSchemas": draft == .draft7 ? nil : .map
        case "unevaluatedItems", "unevaluatedProperties", "contentSchema": draft == .draft7 ? nil : .schema
        default: nil
        }
    }
}
