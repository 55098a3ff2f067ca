/// A version of JSON Schema, the default for schemas that don't have `$schema`.
public enum JSONSchemaDialect: Sendable, Hashable, CaseIterable {
    /// Draft 7: `definitions`, `items` as a list, and a `$ref` that overrides all keywords next to it. Also used for
    /// draft 6.
    case draft7
    /// Draft 2019-09: `$defs`, `$anchor`, `$recursiveRef`, `unevaluatedProperties`.
    case draft2019_09
    /// Draft 2020-12, which OpenAPI 3.1 uses: `prefixItems`, `$dynamicRef`.
    case draft2020_12
}

/// Whether the keyword `format` can reject a string.
public enum JSONSchemaFormats: Sendable, Hashable {
    /// `format` only describes a string and never rejects it. This is the specification's default.
    case annotation
    /// `format` rejects a string that doesn't have the format. Unknown formats are ignored.
    case assertion
}

/// The limits for compiling a schema and all documents that it refers to. Negative numbers count as 0.
///
/// ```swift
/// var limits = JSONSchemaLimits()
/// limits.maximumSteps = 200_000_000
/// let schema = try JSONSchema(data, limits: limits)
/// ```
public struct JSONSchemaLimits: Sendable, Hashable {
    /// The maximum number of steps for compiling. Defaults to 25,000,000, which take less than a second.
    ///
    /// The compiler counts a step for each value, keyword, URI and part of a pattern that it processes.
    public var maximumSteps = 25_000_000
    /// The maximum estimated size of the documents and the compiled schema, in bytes. Defaults to 80 MiB.
    public var maximumBytes = 80 << 20

    /// The default limits.
    public static let standard = JSONSchemaLimits()

    /// Creates limits with the defaults.
    public init() {}
}
