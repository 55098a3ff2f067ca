/// The versions of JSON Schema.
///
/// A schema names its own with `$schema`; this one applies to a schema that does not.
public enum JSONSchemaDialect: Sendable, Hashable, CaseIterable {
    /// Draft 7: `definitions`, `items` as a list, and a `$ref` that replaces everything beside it. Draft 6 is read as it.
    case draft7
    /// Draft 2019-09: `$defs`, `$anchor`, `$recursiveRef`, `unevaluatedProperties`.
    case draft2019_09
    /// Draft 2020-12, that of OpenAPI 3.1: `prefixItems`, `$dynamicRef`.
    case draft2020_12
}

/// The meaning of the keyword `format`.
public enum JSONSchemaFormats: Sendable, Hashable {
    /// An annotation that rejects nothing, as the specification has it by default.
    case annotation
    /// An assertion: a string that does not have the format is a problem. Unknown formats reject nothing.
    case assertion
}
