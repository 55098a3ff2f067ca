/// The limits of compiling a schema, with all documents that it refers to. Negative numbers count as zero.
///
/// ```swift
/// var limits = JSONSchemaLimits()
/// limits.maximumSteps = 200_000_000
/// let schema = try JSONSchema(data, limits: limits)
/// ```
public struct JSONSchemaLimits: Sendable, Hashable {
    /// The maximum number of steps: a value that is read, a keyword, a byte of a URI, a part of a pattern. 25,000,000 by
    /// default, less than a second.
    public var maximumSteps = 25_000_000
    /// The maximum number of bytes that the documents and what is compiled of them take, as an estimate; 80 MiB by default.
    public var maximumBytes = 80 << 20

    /// The default limits.
    public static let standard = JSONSchemaLimits()

    /// Makes the default limits.
    public init() {}
}
