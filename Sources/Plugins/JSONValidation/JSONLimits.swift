/// The limits that a JSON text must stay within to be validated. Negative numbers count as zero.
public struct JSONLimits: Sendable, Hashable {
    /// The maximum nesting of arrays and objects. Defaults to 512. Each level in use takes about 100 bytes of memory.
    public var maximumDepth = 512
    /// The maximum length of the text in bytes. Defaults to 64 MiB, the most that an agent collects in memory.
    public var maximumBytes = 64 << 20
    /// The maximum number of problems to list; further problems are only counted. Defaults to 20.
    public var maximumProblems = 20
    /// The maximum number of keys to remember, across all open objects, for finding duplicates.
    ///
    /// Keys that a shape names don't count. Defaults to 100,000, which takes about 5 MB. A text with more keys is
    /// rejected.
    public var maximumKeys = 100_000
    /// The maximum length in bytes of a string that is matched against a pattern. Defaults to 64 KiB.
    public var maximumPatternBytes = 64 << 10
    /// The maximum number of steps to match one string. Defaults to 4,000,000, a few hundredths of a second.
    ///
    /// A string takes at most its number of characters times the number of parts in the pattern, after counted
    /// repetitions are expanded.
    public var maximumPatternSteps = 4_000_000
    /// The maximum number of elements to store for a schema's `uniqueItems`, across all open arrays.
    ///
    /// Defaults to 1,000,000, which takes about 60 MB. A text with more elements is rejected.
    public var maximumUniqueItems = 1_000_000
    /// The maximum number of steps for the whole text. Defaults to 40,000,000, less than a second.
    ///
    /// Applying a schema within a JSON Schema, or one of several shapes, to a value takes a step. So does each step of
    /// a pattern, and each group of bytes that is compared, hashed, or read for a format. A text that takes more steps
    /// is rejected.
    public var maximumSteps = 40_000_000
    /// The maximum memory in bytes that validation may use in addition to the text, as an estimate. Defaults to 64 MiB.
    ///
    /// The memory holds keys and elements, and the states that a schema derives from the combinations in the text. A
    /// text that needs more is rejected.
    public var maximumMemoryBytes = 64 << 20
    /// Whether to reject duplicate keys in an object. Defaults to true. If false, every value of a duplicate key must
    /// fit.
    public var refusesRepeatedKeys = true

    /// The limits that apply by default.
    public static let standard = JSONLimits()

    /// Creates limits in which every property has its default.
    public init() {}

    /// The limits with negative numbers replaced by zero.
    package var clamped: JSONLimits {
        var limits = self
        for limit in [
            \JSONLimits.maximumDepth, \.maximumBytes, \.maximumKeys, \.maximumPatternBytes, \.maximumPatternSteps,
            \.maximumUniqueItems, \.maximumSteps, \.maximumMemoryBytes,
        ] { limits[keyPath: limit] = max(0, limits[keyPath: limit]) }
        return limits
    }
}
