import ErrandJSONValidation

/// A member that distinguishes the branches of an `anyOf` or `oneOf`: an object with a certain value for this member
/// can fit only a few of the branches.
///
/// Values are numbered in this order: strings, numbers, `true`, `false`, `null`, any other value, and a missing member.
struct SchemaTag: Sendable {
    let key: [UInt8]
    let strings: [[UInt8]]
    let numbers: [ExactDecimal: Int]
    /// By value number: the branches that an object can fit, in ascending order, or `nil` if there are too many.
    let branches: [[Int32]?]

    static let maximumBranches = 8

    var literals: Int { strings.count + numbers.count }
    var other: Int { literals + 3 }
    var missing: Int { literals + 4 }

    /// The values that a branch allows for a member.
    struct Claim {
        var key: [UInt8]
        var values: SchemaConstants
        var isRequired: Bool

        var count: Int { values.strings.count + values.numbers.count + values.literals.nonzeroBitCount }
    }

    /// Creates a tag from each branch's claim. A branch without a claim can fit every value. Returns `nil` if every
    /// value leaves too many branches.
    init?(_ key: [UInt8], _ claims: [Claim?]) {
        self.key = key
        var strings: [[UInt8]: [Int32]] = [:]
        var numbers: [ExactDecimal: [Int32]] = [:]
        var literals: [UInt8: [Int32]] = [:]
        var (open, optional): ([Int32], [Int32]) = ([], [])
        for (index, claim) in claims.enumerated() {
            let branch = Int32(index)
            guard let claim else {
                open.append(branch)
                continue
            }
            if !claim.isRequired { optional.append(branch) }
            for text in Set(claim.values.strings.values.joined()) { strings[text, default: []].append(branch) }
            for number in claim.values.numbers { numbers[number, default: []].append(branch) }
            for kind in Self.literalKinds where claim.values.literals & kind != 0 {
                literals[kind, default: []].append(branch)
            }
        }
        func kept(_ more: [Int32]) -> [Int32]? {
            let count = open.count + more.count
            return count <= Self.maximumBranches && count * 2 <= claims.count ? (open + more).sorted() : nil
        }
        self.strings = strings.keys.sorted { $0.lexicographicallyPrecedes($1) }
        var branches = self.strings.map { kept(strings[$0] ?? []) }
        var numbersOfValues: [ExactDecimal: Int] = [:]
        for (number, found) in numbers {
            numbersOfValues[number] = branches.count
            branches.append(kept(found))
        }
        self.numbers = numbersOfValues
        branches += Self.literalKinds.map { kept(literals[$0] ?? []) }
        self.branches = branches + [kept([]), kept(optional)]
        if self.branches.allSatisfy({ $0 == nil }) { return nil }
    }

    static let literalKinds = [ValueKind.true, ValueKind.false, ValueKind.null]

    /// The branches that remain for the string that most branches allow.
    static func worst(_ claims: [Claim?]) -> Int {
        var counts: [[UInt8]: Int] = [:]
        var open = 0
        for claim in claims {
            guard let claim else {
                open += 1
                continue
            }
            for text in Set(claim.values.strings.values.joined()) { counts[text, default: 0] += 1 }
        }
        return open + (counts.values.max() ?? 0)
    }
}
