/// The limits for validating a JSON text. Negative numbers count as 0.
public struct JSONLimits: Sendable, Hashable {
    /// The maximum nesting depth of arrays and objects. Defaults to 512. Each open level takes about 100 bytes of
    /// memory.
    public var maximumDepth = 512
    /// The maximum length of the text in bytes. Defaults to 64 MiB.
    public var maximumBytes = 64 << 20
    /// The maximum number of problems to list in the error. Validation counts further problems but doesn't list them.
    /// Defaults to 20.
    public var maximumProblems = 20
    /// The maximum number of keys to remember for finding duplicates, across all open objects. Defaults to 100,000,
    /// which take about 5 MB.
    ///
    /// Keys that a shape declares don't count. Validation rejects a text with more keys.
    public var maximumKeys = 100_000
    /// The maximum length in bytes of a string to match against a pattern. Defaults to 64 KiB.
    public var maximumPatternBytes = 64 << 10
    /// The maximum number of steps for matching one string. Defaults to 4,000,000, which take a few hundredths of a
    /// second.
    ///
    /// A string takes at most one step for each pair of a character in the string and a part of the pattern. A counted
    /// repetition such as `a{3}` counts as three parts.
    public var maximumPatternSteps = 4_000_000
    /// The maximum number of elements to store for a schema's `uniqueItems`, across all open arrays. Defaults to
    /// 1,000,000, which take about 60 MB. Validation rejects a text with more elements.
    public var maximumUniqueItems = 1_000_000
    /// The maximum number of steps for the whole text. Defaults to 40,000,000, which take less than a second. A text
    /// that needs more steps is rejected.
    ///
    /// These count as steps:
    ///
    /// - applying a schema within a JSON Schema, or one of several shapes, to a value
    /// - each step of matching a pattern
    /// - each group of bytes that is compared, hashed, or read to check a format
    public var maximumSteps = 40_000_000
    /// The maximum memory that validation may use in addition to the text, as an estimate in bytes. Defaults to 64 MiB.
    /// A text that needs more is rejected.
    ///
    /// The memory holds the keys and elements to compare, and the schema's validation state.
    public var maximumMemoryBytes = 64 << 20
    /// Whether to reject duplicate keys in an object. Defaults to `true`. If `false`, every value of a duplicate key
    /// must fit.
    public var refusesRepeatedKeys = true

    /// The default limits.
    public static let standard = JSONLimits()

    /// Creates limits with the defaults.
    public init() {}

    /// Negative limits become 0.
    package var clamped: JSONLimits {
        var limits = self
        for limit in [
            \JSONLimits.maximumDepth, \.maximumBytes, \.maximumKeys, \.maximumPatternBytes, \.maximumPatternSteps,
            \.maximumUniqueItems, \.maximumSteps, \.maximumMemoryBytes,
        ] { limits[keyPath: limit] = max(0, limits[keyPath: limit]) }
        return limits
    }
}
