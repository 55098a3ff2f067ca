/// Parses ECMA-262 syntax (section 22.2.1) with the flag `u`, except for backreferences.
package struct PatternParser {
    static let maximumDepth = 100
    /// In Unicode scalars.
    static let maximumLength = 16_384
    static let maximumCount = 65_535

    struct Flags: Hashable {
        var ignoresCase = false
        var isMultiline = false
        var dotMatchesAll = false
    }

    let scalars: [Unicode.Scalar]
    var index = 0
    private var depth = 0
    var flags = Flags()
    /// The first syntax that is valid but unsupported, or exceeds a limit. Parsing continues.
    private var first: PatternFault?
    var budget: CompileBudget

    private(set) var sets: [PatternSet] = []
    private var numbers: [PatternSet: Int32] = [:]

    /// A Swift literal may escape any punctuation and name groups with `(?P<name>…)`.
    private(set) var isLiteral = false

    var groups = 0
    var names: Set<String> = []
    /// Backreferences may refer to later groups.
    var numbered: [(group: Int, offset: Int)] = []
    var named: [(name: String, offset: Int)] = []

    static func parse(
        _ source: String, _ budget: inout CompileBudget, isLiteral: Bool
    ) throws(PatternFault) -> (node: PatternNode, sets: [PatternSet]) {
        var parser = PatternParser(Array(source.unicodeScalars), budget)
        parser.isLiteral = isLiteral
        defer { budget = parser.budget }
        if parser.scalars.count > maximumLength {
            throw PatternFault(
                reason: "is longer than \(maximumLength) characters", offset: maximumLength, kind: .tooLarge)
        }
        let node = try parser.pattern()
        if let fault = parser.first { throw fault }
        return (node, parser.sets)
    }

    /// Returns `true` for valid but unsupported expressions, and `nil` for expressions that are too large to decide.
    package static func isPattern(_ source: String) -> Bool? {
        let scalars = Array(source.unicodeScalars)
        var parser = PatternParser(scalars, CompileBudget(steps: 1_000_000 + scalars.count * 2, bytes: 16 << 20))
        do throws(PatternFault) {
            _ = try parser.pattern()
            return true
        } catch { return error.kind == .tooLarge ? nil : false }
    }

    private init(_ scalars: [Unicode.Scalar], _ budget: CompileBudget) {
        (self.scalars, self.budget) = (scalars, budget)
    }

    var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    mutating func next() -> Unicode.Scalar? {
        guard index < scalars.count else { return nil }
        defer { index += 1 }
        return scalars[index]
    }

    mutating func skip(_ text: String) -> Bool {
        let expected = text.unicodeScalars
        guard scalars[index...].starts(with: expected) else { return false }
        index += expected.count
        return true
    }

    func fault(_ reason: String, at offset: Int? = nil) -> PatternFault {
        PatternFault(reason: reason, offset: offset ?? index)
    }

    mutating func note(_ reason: String, at offset: Int, _ kind: PatternFault.Kind = .unsupported) {
        if first == nil { first = PatternFault(reason: reason, offset: offset, kind: kind) }
    }

    mutating func spend(steps: Int, bytes: Int = 0) throws(PatternFault) {
        if budget.spend(steps: steps, bytes: bytes) { return }
        throw PatternFault(reason: budget.excess, offset: index, kind: .tooLarge)
    }

    mutating func number(_ set: PatternSet) throws(PatternFault) -> Int32 {
        try spend(steps: set.ranges.count)
        if let known = numbers[set] { return known }
        try spend(steps: 128, bytes: 128 + set.ranges.count * 24)
        numbers[set] = Int32(sets.count)
        sets.append(set)
        return Int32(sets.count - 1)
    }

    // MARK: Grammar

    private mutating func pattern() throws(PatternFault) -> PatternNode {
        let node = try disjunction()
        if peek == ")" { throw fault("has a ) without a (") }
        for (group, offset) in numbered where group > groups {
            throw fault("has a backreference to a missing group", at: offset)
        }
        for (name, offset) in named where !names.contains(name) {
            throw fault("has a backreference to a missing group", at: offset)
        }
        return node
    }

    mutating func disjunction() throws(PatternFault) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.maximumDepth {
            throw PatternFault(
                reason: "has groups more than \(Self.maximumDepth) levels deep", offset: index, kind: .tooLarge)
        }
        var alternatives = [try alternative()]
        while peek == "|" {
            index += 1
            alternatives.append(try alternative())
        }
        return alternatives.count == 1 ? alternatives[0] : .alternation(alternatives)
    }

    private mutating func alternative() throws(PatternFault) -> PatternNode {
        var terms: [PatternNode] = []
        while let scalar = peek, scalar != "|", scalar != ")" { terms.append(try term()) }
        return terms.isEmpty ? .empty : terms.count == 1 ? terms[0] : .sequence(terms)
    }

    private mutating func term() throws(PatternFault) -> PatternNode {
        let start = index
        try spend(steps: 1, bytes: 48)
        let node = try atom()
        var isQuantifiable = true
        switch node {
        case .assertion, .look: isQuantifiable = false
        default: break
        }
        guard let (least, most) = try quantifier() else { return node }
        if !isQuantifiable { throw fault("has a quantifier after an assertion", at: start) }
        if peek == "?" { index += 1 }
        if peek == "+" { throw fault("has a possessive quantifier, which is not supported") }
        if peek == "*" || peek == "?" { throw fault("has a quantifier without anything to repeat") }
        return .repetition(node, least: least, most: most)
    }

    private mutating func atom() throws(PatternFault) -> PatternNode {
        let start = index
        guard let scalar = next() else { return .empty }
        switch scalar {
        case "^": return .assertion(flags.isMultiline ? .lineStart : .start)
        case "$": return .assertion(flags.isMultiline ? .lineEnd : .end)
        case ".": return .set(try number(flags.dotMatchesAll ? PatternSet([PatternSet.all]) : .dot))
        case "(": return try group(start)
        case "[": return .set(try number(try characterClass(start)))
        case "\\": return try escapeOutsideClass(start)
        case "*", "+", "?": throw fault("has a quantifier without anything to repeat", at: start)
        case "{", "}", "]": throw fault("has an unescaped \(scalar)", at: start)
        default: return try single(scalar.value)
        }
    }

    /// If case is ignored, includes all characters that equal it.
    mutating func single(_ value: UInt32) throws(PatternFault) -> PatternNode {
        guard flags.ignoresCase, let others = PatternCaseFolding.variants(of: value) else { return .scalar(value) }
        return .set(try number(PatternSet(others.map { $0...$0 })))
    }
}

extension PatternParser {
    mutating func escapeOutsideClass(_ start: Int) throws(PatternFault) -> PatternNode {
        switch peek {
        case "b", "B":
            let isNegative = next() == "B"
            return .assertion(.boundary(isNegative: isNegative, ignoresCase: flags.ignoresCase))
        case "k":
            index += 1
            guard next() == "<" else { throw fault("has a backreference without a name", at: start) }
            named.append((try groupName(), start))
            note("has a backreference, which is not supported", at: start)
            return .sequence([])
        case let digit? where digit >= "1" && digit <= "9":
            var group = 0
            while let digit = peek, digit >= "0", digit <= "9" {
                group = min(group * 10 + Int(digit.value - 0x30), 1 << 24)
                index += 1
            }
            numbered.append((group, start))
            note("has a backreference, which is not supported", at: start)
            return .sequence([])
        default: break
        }
        switch try escape(start, isInClass: false) {
        case .character(let value): return try single(value)
        case .set(let set): return .set(try number(flags.ignoresCase ? set.withoutCase : set))
        }
    }

    enum Part {
        case character(UInt32)
        case set(PatternSet)
    }

    /// The opening bracket was read already.
    mutating func characterClass(_ start: Int) throws(PatternFault) -> PatternSet {
        var isNegated = false
        if peek == "^" {
            index += 1
            isNegated = true
        }
        var ranges: [ClosedRange<UInt32>] = []
        // A repeated set doesn't add characters.
        var known: Set<PatternSet> = []
        while peek != "]" {
            let first = index
            let low = try classPart(start)
            guard peek == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
                switch low {
                case .character(let value): ranges.append(value...value)
                case .set(let set):
                    try spend(steps: set.ranges.count)
                    if known.insert(set).inserted { ranges += set.ranges }
                }
                continue
            }
            index += 1
            guard case .character(let lower) = low, case .character(let upper) = try classPart(start) else {
                throw fault("has a range whose bounds aren't single characters", at: first)
            }
            if upper < lower { throw fault("has a range whose end comes before its start", at: first) }
            ranges.append(lower...upper)
        }
        index += 1
        try spend(steps: ranges.count * 4)
        var set = PatternSet(ranges)
        if flags.ignoresCase {
            try spend(steps: 4_000)
            set = set.withoutCase
        }
        return isNegated ? set.inverted : set
    }

    private mutating func classPart(_ start: Int) throws(PatternFault) -> Part {
        let index = index
        try spend(steps: 1)
        guard let scalar = next() else { throw fault("has an unclosed character class", at: start) }
        return scalar == "\\" ? try escape(index, isInClass: true) : .character(scalar.value)
    }

    /// The backslash was read already.
    private mutating func escape(_ start: Int, isInClass: Bool) throws(PatternFault) -> Part {
        guard let letter = next() else { throw fault("ends in the middle of an escape", at: start) }
        switch letter {
        case "d": return .set(.digit)
        case "D": return .set(PatternSet.digit.inverted)
        case "w": return .set(flags.ignoresCase ? .wordWithoutCase : .word)
        case "W": return .set((flags.ignoresCase ? PatternSet.wordWithoutCase : .word).inverted)
        case "s": return .set(.space)
        case "S": return .set(PatternSet.space.inverted)
        case "p", "P": return .set(try property(start, isNegated: letter == "P"))
        case "t": return .character(0x09)
        case "n": return .character(0x0A)
        case "v": return .character(0x0B)
        case "f": return .character(0x0C)
        case "r": return .character(0x0D)
        case "b" where isInClass: return .character(0x08)
        case "-" where isInClass: return .character(letter.value)
        case "0":
            if let digit = peek, digit >= "0", digit <= "9" { throw fault("has an octal escape", at: start) }
            return .character(0)
        case "c":
            guard let control = next(), control.isASCII, control.properties.isAlphabetic else {
                throw fault("has an invalid escape", at: start)
            }
            return .character(control.value & 0x1F)
        case "x": return .character(try hexadecimal(2, start))
        case "u": return .character(try unicode(start))
        case "^", "$", "\\", ".", "*", "+", "?", "(", ")", "[", "]", "{", "}", "|", "/":
            return .character(letter.value)
        default:
            guard isLiteral, (0x21...0x7E).contains(letter.value), !letter.properties.isAlphabetic,
                letter < "0" || letter > "9"
            else { throw fault("has an invalid escape", at: start) }
            return .character(letter.value)
        }
    }

    /// May return an unpaired surrogate, which no text contains.
    mutating func unicode(_ start: Int) throws(PatternFault) -> UInt32 {
        if peek == "{" {
            index += 1
            var value: UInt32 = 0
            var count = 0
            while let digit = peek?.hexadecimal {
                value = min(value << 4 | digit, 0x11_0000)
                (index, count) = (index + 1, count + 1)
            }
            guard next() == "}", count > 0 else { throw fault("has an invalid escape", at: start) }
            if value > 0x10FFFF { throw fault("has an escape beyond U+10FFFF", at: start) }
            return value
        }
        let unit = try hexadecimal(4, start)
        let behind = index
        guard unit & 0xFC00 == 0xD800, skip("\\u"), peek != "{" else {
            index = behind
            return unit
        }
        var low: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next()?.hexadecimal else {
                index = behind
                return unit
            }
            low = low << 4 | digit
        }
        guard low & 0xFC00 == 0xDC00 else {
            index = behind
            return unit
        }
        return 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF
    }

    private mutating func hexadecimal(_ count: Int, _ start: Int) throws(PatternFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let digit = next()?.hexadecimal else { throw fault("has an invalid escape", at: start) }
            value = value << 4 | digit
        }
        return value
    }

    private mutating func property(_ start: Int, isNegated: Bool) throws(PatternFault) -> PatternSet {
        guard next() == "{" else { throw fault("has an invalid escape", at: start) }
        var name = ""
        while let scalar = next(), scalar != "}" { name.unicodeScalars.append(scalar) }
        guard scalars[index - 1] == "}", let property = PatternProperty.set(name) else {
            throw fault("has an unknown Unicode property", at: start)
        }
        try spend(steps: property.ranges.count)
        return isNegated ? property.inverted : property
    }
}

extension Unicode.Scalar {
    fileprivate var hexadecimal: UInt32? {
        switch value {
        case 0x30...0x39: value - 0x30
        case 0x41...0x46, 0x61...0x66: (value | 0x20) - 0x57
        default: nil
        }
    }
}
