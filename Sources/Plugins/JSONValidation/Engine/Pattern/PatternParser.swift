/// Parses the syntax of ECMA-262 (section 22.2.1) with the flag `u` and the modifier `i`, without backreferences.
struct PatternParser {
    /// The maximum nesting of groups.
    static let maximumDepth = 100
    /// The maximum length of the source in Unicode scalars.
    static let maximumLength = 16_384
    /// The largest number in a quantifier.
    static let maximumCount = 65_535

    let scalars: [Unicode.Scalar]
    var place = 0
    private var depth = 0
    private var names: Set<String> = []
    /// Within `(?i:…)`.
    private var ignoresCase = false

    static func parse(_ source: String) throws(PatternFault) -> PatternNode {
        var parser = PatternParser(scalars: Array(source.unicodeScalars))
        if parser.scalars.count > maximumLength {
            throw PatternFault(reason: "is longer than \(maximumLength) characters", offset: maximumLength)
        }
        let node = try parser.disjunction()
        if parser.peek == ")" { throw parser.fault("closes a group that is not open") }
        return node
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    var peek: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

    mutating func next() -> Unicode.Scalar? {
        guard place < scalars.count else { return nil }
        defer { place += 1 }
        return scalars[place]
    }

    mutating func skip(_ text: String) -> Bool {
        let expected = Array(text.unicodeScalars)
        guard scalars[place...].starts(with: expected) else { return false }
        place += expected.count
        return true
    }

    func fault(_ reason: String, at offset: Int? = nil) -> PatternFault {
        PatternFault(reason: reason, offset: offset ?? place)
    }

    /// For what ECMA-262 has, and this engine has not.
    func unsupported(_ reason: String, at offset: Int) -> PatternFault {
        PatternFault(reason: reason, offset: offset, isUnsupported: true)
    }

    private mutating func disjunction() throws(PatternFault) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.maximumDepth { throw fault("has groups more than \(Self.maximumDepth) levels deep") }
        var alternatives = [try alternative()]
        while peek == "|" {
            place += 1
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
        let start = place
        let node = try atom()
        var isQuantifiable = true
        switch node {
        case .assertion, .look: isQuantifiable = false
        default: break
        }
        guard let (least, most) = try quantifier() else { return node }
        if !isQuantifiable { throw fault("repeats an assertion", at: start) }
        if peek == "?" { place += 1 }
        if peek == "+" { throw fault("has a possessive quantifier, which is not supported") }
        if peek == "*" { throw fault("repeats nothing") }
        return .repetition(node, least: least, most: most)
    }

    private mutating func atom() throws(PatternFault) -> PatternNode {
        let start = place
        guard let scalar = next() else { return .empty }
        switch scalar {
        case "^": return .assertion(.start)
        case "$": return .assertion(.end)
        case ".": return .set(.dot)
        case "(": return try group(start)
        case "[": return .set(folded(try characterClass(start)))
        case "\\":
            let node = try escapeOutsideClass(start)
            if case .set(let set) = node { return .set(folded(set)) }
            return node
        case "*", "+", "?": throw fault("repeats nothing", at: start)
        case "{", "}", "]": throw fault("has a \(scalar) that is not escaped", at: start)
        default: return .set(folded(PatternSet(scalar)))
        }
    }

    private func folded(_ set: PatternSet) -> PatternSet { ignoresCase ? set.withoutCase : set }

    private mutating func group(_ start: Int) throws(PatternFault) -> PatternNode {
        var look: (isAhead: Bool, isNegative: Bool)?
        let around = ignoresCase
        defer { ignoresCase = around }
        if skip("?=") {
            look = (true, false)
        } else if skip("?!") {
            look = (true, true)
        } else if skip("?<=") {
            look = (false, false)
        } else if skip("?<!") {
            look = (false, true)
        } else if skip("?<") || skip("?P<") {
            try groupName()
        } else if skip("?i:") {
            ignoresCase = true
        } else if skip("?-i:") {
            ignoresCase = false
        } else if !skip("?:"), peek == "?" {
            throw fault("has a kind of group that is not supported", at: start)
        }
        let node = try disjunction()
        guard next() == ")" else { throw fault("has a group that is not closed", at: start) }
        // A separate group, so that a following quantifier repeats all of it.
        return look.map { .look(node, isAhead: $0.isAhead, isNegative: $0.isNegative) } ?? .sequence([node])
    }

    private mutating func groupName() throws(PatternFault) {
        let start = place
        var name = ""
        while let scalar = next(), scalar != ">" {
            let isFirst = name.isEmpty
            let isFit =
                scalar == "_" || scalar == "$"
                || (isFirst ? scalar.properties.isIDStart : scalar.properties.isIDContinue)
            guard isFit else { throw fault("has a group with an invalid name", at: start) }
            name.unicodeScalars.append(scalar)
        }
        guard !name.isEmpty, scalars[place - 1] == ">" else {
            throw fault("has a group with an invalid name", at: start)
        }
        if !names.insert(name).inserted { throw fault("names two groups \(name)", at: start) }
    }

    // MARK: Quantifiers

    private mutating func quantifier() throws(PatternFault) -> (least: Int, most: Int?)? {
        let start = place
        switch peek {
        case "*":
            place += 1
            return (0, nil)
        case "+":
            place += 1
            return (1, nil)
        case "?":
            place += 1
            return (0, 1)
        case "{": place += 1
        default: return nil
        }
        guard let least = try count() else { throw fault("has a { that is not escaped", at: start) }
        var most: Int? = least
        if peek == "," {
            place += 1
            most = try count()
        }
        guard next() == "}" else { throw fault("has a quantifier that is not closed", at: start) }
        if let most, most < least { throw fault("has a quantifier that ends before it begins", at: start) }
        return (least, most)
    }

    private mutating func count() throws(PatternFault) -> Int? {
        var value: Int?
        while let scalar = peek, scalar >= "0", scalar <= "9" {
            value = (value ?? 0) * 10 + Int(scalar.value - 0x30)
            if value ?? 0 > Self.maximumCount { throw fault("repeats more than \(Self.maximumCount) times") }
            place += 1
        }
        return value
    }
}
