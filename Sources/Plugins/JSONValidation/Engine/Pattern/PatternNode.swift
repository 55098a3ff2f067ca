/// The syntax tree of a regular expression.
indirect enum PatternNode: Sendable {
    case empty
    case set(PatternSet)
    case sequence([PatternNode])
    case alternation([PatternNode])
    /// A repetition, unbounded if `most` is nil. Greedy and lazy repetitions match the same strings.
    case repetition(PatternNode, least: Int, most: Int?)
    case assertion(PatternAssertion)
    case look(PatternNode, isAhead: Bool, isNegative: Bool)
}

/// A condition on a position between two scalars.
enum PatternAssertion: Sendable {
    case start, end, boundary, noBoundary
}

/// A set of Unicode scalars: a single one, a class, or an escape such as `\d`.
struct PatternSet: Sendable {
    var ranges: [ClosedRange<UInt32>] = []
    var properties: [(property: PatternProperty, isNegated: Bool)] = []
    var isNegated = false

    init(_ ranges: [ClosedRange<UInt32>] = [], isNegated: Bool = false) {
        (self.ranges, self.isNegated) = (ranges, isNegated)
    }

    init(_ scalar: Unicode.Scalar) { ranges = [scalar.value...scalar.value] }

    /// Adds another set; a negated one without properties as its complement.
    mutating func add(_ other: PatternSet) {
        ranges += other.isNegated ? Self.complement(of: other.ranges) : other.ranges
        properties += other.properties
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        let isListed =
            ranges.contains { $0.contains(value) }
            || properties.contains { $0.property.contains(scalar) != $0.isNegated }
        return isListed != isNegated
    }

    private static func complement(of ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var found: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { found.append(next...range.lowerBound - 1) }
            next = max(next, range.upperBound + 1)
        }
        return next <= 0x10FFFF ? found + [next...0x10FFFF] : found
    }

    // MARK: Named sets (ECMA-262, section 22.2.2.9)

    static let digit = PatternSet([0x30...0x39])
    static let word = PatternSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    /// WhiteSpace and LineTerminator (sections 12.2 and 12.3).
    static let space = PatternSet([
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    /// The set of `.`: all scalars except line terminators.
    static let dot = PatternSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029], isNegated: true)

    /// Adds the other case of each character, except for ranges of more than 4,096 characters.
    var withoutCase: PatternSet {
        var set = self
        for range in ranges where range.count <= 4_096 {
            for value in range {
                guard let properties = Unicode.Scalar(value)?.properties else { continue }
                for text in [properties.lowercaseMapping, properties.uppercaseMapping] {
                    guard let other = text.unicodeScalars.first, text.unicodeScalars.count == 1,
                        other.value != value
                    else { continue }
                    set.ranges.append(other.value...other.value)
                }
            }
        }
        return set
    }

    var negated: PatternSet {
        var set = self
        set.isNegated.toggle()
        return set
    }
}
