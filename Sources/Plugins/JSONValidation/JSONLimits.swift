/// The limits of the texts that a validator accepts. Negative numbers count as zero.
public struct JSONLimits: Sendable, Hashable {
    /// The maximum nesting of arrays and objects; 512 by default. Each level in use takes about 100 bytes of memory.
    public var maximumDepth = 512
    /// The maximum length of the text in bytes; 64 MiB by default, the most that an agent collects in memory.
    public var maximumBytes = 64 << 20
    /// The maximum number of problems that are listed; further ones are counted. 20 by default.
    public var maximumProblems = 20
    /// The maximum number of keys in all open objects together, which are stored to find duplicates; keys that a shape
    /// names do not count. 100,000 by default, about 5 MB. A text with more is rejected.
    public var maximumKeys = 100_000
    /// The maximum length in bytes of a string that is matched against a pattern; 64 KiB by default.
    public var maximumPatternBytes = 64 << 10
    /// The maximum number of steps to match one string; 4,000,000 by default, a few hundredths of a second. A string takes
    /// at most its number of characters times the number of parts of the pattern, with counted repetitions expanded.
    public var maximumPatternSteps = 4_000_000
    /// The maximum number of elements that are stored for `uniqueItems` of a schema, in all open arrays together; 1,000,000
    /// by default, about 60 MB. A text with more is rejected.
    public var maximumUniqueItems = 1_000_000
    /// The maximum number of steps that a text may take altogether: each schema within a JSON Schema, or each of several
    /// shapes, that is applied to a value; each step of a pattern; and some bytes that are compared, hashed or read for a
    /// format. 40,000,000 by default, less than a second. A text that takes more is rejected.
    public var maximumSteps = 40_000_000
    /// The maximum number of bytes of memory that a text may take beside itself: for keys and elements that are stored, and
    /// for what a schema derives from the combinations that occur in it. An estimate; 64 MiB by default. A text that takes
    /// more is rejected.
    public var maximumMemoryBytes = 64 << 20
    /// Whether duplicate keys in an object are rejected; true by default. If not, each of the values has to fit.
    public var refusesRepeatedKeys = true

    /// The default limits.
    public static let standard = JSONLimits()

    /// Makes the default limits.
    public init() {}

    /// The limits without negative numbers.
    package var clamped: JSONLimits {
        var limits = self
        for limit in [
            \JSONLimits.maximumDepth, \.maximumBytes, \.maximumKeys, \.maximumPatternBytes, \.maximumPatternSteps,
            \.maximumUniqueItems, \.maximumSteps, \.maximumMemoryBytes,
        ] { limits[keyPath: limit] = max(0, limits[keyPath: limit]) }
        return limits
    }
}
