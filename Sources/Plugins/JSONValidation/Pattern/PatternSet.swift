/// Sorted ranges of characters that don't touch. May contain unpaired surrogates, which no text contains.
struct PatternSet: Sendable, Hashable {
    private(set) var ranges: [ClosedRange<UInt32>]

    static let all: ClosedRange<UInt32> = 0...0x10FFFF

    init(_ unsorted: [ClosedRange<UInt32>]) {
        ranges = []
        for range in unsorted.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = ranges.last, range.lowerBound <= last.upperBound + 1 {
                ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                ranges.append(range)
            }
        }
    }

    var single: UInt32? { ranges.count == 1 && ranges[0].count == 1 ? ranges[0].lowerBound : nil }

    var inverted: PatternSet {
        var found: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { found.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= 0x10FFFF { found.append(next...0x10FFFF) }
        return PatternSet(found)
    }

    /// Includes characters that equal one of the set's characters if case is ignored.
    var withoutCase: PatternSet {
        let more = PatternCaseFolding.variants(of: ranges)
        return more.isEmpty ? self : PatternSet(ranges + more)
    }

    func contains(_ value: UInt32) -> Bool {
        var (first, last) = (0, ranges.count)
        while first < last {
            let middle = (first + last) / 2
            if ranges[middle].upperBound < value { first = middle + 1 } else { last = middle }
        }
        return first < ranges.count && ranges[first].lowerBound <= value
    }

    // MARK: Named sets (ECMA-262, section 22.2.2.9)

    static let digit = PatternSet([0x30...0x39])
    static let word = PatternSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    /// The long s and the Kelvin sign are word characters too if case is ignored (section 22.2.2.7.3, WordCharacters).
    static let wordWithoutCase = word.withoutCase
    /// WhiteSpace and LineTerminator (sections 12.2 and 12.3).
    static let space = PatternSet([
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    static let lineEnd = PatternSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029])
    static let dot = lineEnd.inverted
}
