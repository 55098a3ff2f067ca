/// The syntax tree of a regular expression.
indirect enum PatternNode: Sendable {
    case empty
    case scalar(UInt32)
    /// A set by its number among those of the pattern.
    case set(Int32)
    case sequence([PatternNode])
    case alternation([PatternNode])
    /// A repetition, unbounded if `most` is nil. Greedy and lazy repetitions match the same strings.
    case repetition(PatternNode, least: Int, most: Int?)
    case assertion(PatternAssertion)
    case look(PatternNode, isAhead: Bool, isNegative: Bool)
}

/// A condition on a position between two characters.
enum PatternAssertion: Sendable {
    case start, end
    /// With the modifier `m`: also behind and before line terminators.
    case lineStart, lineEnd
    /// A word boundary, or none; without case there are two word characters more.
    case boundary(isNegative: Bool, ignoresCase: Bool)
}
