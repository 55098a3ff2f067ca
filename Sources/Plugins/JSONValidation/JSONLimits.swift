/// What a validator accepts of the size of a text. Numbers below zero count as zero.
public struct JSONLimits: Sendable, Hashable {
    /// The deepest nesting of arrays and objects; 512 by default. Costs about 100 bytes of memory a level in use.
    public var maximumDepth = 512
    /// The longest text in bytes; 64 MiB by default, as much as an agent keeps in memory.
    public var maximumBytes = 64 << 20
    /// The most problems that are listed; the rest is counted. 20 by default.
    public var maximumProblems = 20
    /// The most keys that are remembered at a time to find those that come twice, over all objects around the place
    /// that is read; keys that a shape names cost nothing. 100,000 by default, about 5 MB. A text with more is refused.
    public var maximumKeys = 100_000
    /// The longest string in bytes that a pattern is tried on; 64 KiB by default.
    public var maximumPatternBytes = 64 << 10
    /// The most steps that a pattern may take on one string; 4,000,000 by default, some hundredths of a second. A string
    /// takes at most as many as it has characters times as the pattern has parts, its counted repetitions written out.
    public var maximumPatternSteps = 4_000_000
    /// Whether an object that has a key twice is refused; true by default. If not, each of the values has to fit.
    public var refusesRepeatedKeys = true

    /// With the defaults.
    public static let standard = JSONLimits()

    public init() {}

    /// The same without numbers below zero.
    var clamped: JSONLimits {
        var limits = self
        for limit in [
            \JSONLimits.maximumDepth, \.maximumBytes, \.maximumKeys, \.maximumPatternBytes, \.maximumPatternSteps,
        ] { limits[keyPath: limit] = max(0, limits[keyPath: limit]) }
        return limits
    }
}
