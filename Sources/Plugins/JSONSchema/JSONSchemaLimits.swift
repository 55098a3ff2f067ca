/// The limits for compiling a schema and all documents that it refers to. Negative numbers count as zero.
///
/// ```swift
/// var limits = JSONSchemaLimits()
/// limits.maximumSteps = 200_000_000
/// let schema = try JSONSchema(data, limits: limits)
/// ```
public struct JSONSchemaLimits: Sendable, Hashable {
    /// The maximum number of steps. Defaults to 25,000,000, less than a second.
    ///
    /// Each value that is read takes a step, as does each keyword, byte of a URI, and part of a pattern.
    public var maximumSteps = 25_000_000
    /// The maximum size in bytes of the documents and the compiled schema, as an estimate. Defaults to 80 MiB.
    public var maximumBytes = 80 << 20

    /// The default limits.
    public static let standard = JSONSchemaLimits()

    /// Creates the default limits.
    public init() {}
}
