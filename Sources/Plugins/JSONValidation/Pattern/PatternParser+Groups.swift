extension PatternParser {
    mutating func group(_ start: Int) throws(PatternFault) -> PatternNode {
        var look: (isAhead: Bool, isNegative: Bool)?
        let around = flags
        defer { flags = around }
        if skip("?=") {
            look = (true, false)
        } else if skip("?!") {
            look = (true, true)
        } else if skip("?<=") {
            look = (false, false)
        } else if skip("?<!") {
            look = (false, true)
        } else if skip("?<") || isLiteral && skip("?P<") {
            groups += 1
            let offset = index
            let name = try groupName()
            if !names.insert(name).inserted { throw fault("uses the group name twice: \(name)", at: offset) }
        } else if peek == "?" {
            try modifiers(start)
        } else {
            groups += 1
        }
        let node = try disjunction()
        guard next() == ")" else { throw fault("has an unclosed group", at: start) }
        // A sequence, because a quantifier may follow a group even if it contains only an assertion.
        return look.map { .look(node, isAhead: $0.isAhead, isNegative: $0.isNegative) } ?? .sequence([node])
    }

    /// For `(?i:…)` and `(?i-ms:…)`. `(?:…)` doesn't have modifiers.
    private mutating func modifiers(_ start: Int) throws(PatternFault) {
        index += 1
        var (known, isOn): (Set<Unicode.Scalar>, Bool) = ([], true)
        while let letter = next() {
            switch letter {
            case ":":
                if !isOn, known.isEmpty { throw fault("has an unsupported kind of group", at: start) }
                return
            case "-" where isOn:
                isOn = false
                continue
            case "i": flags.ignoresCase = isOn
            case "m": flags.isMultiline = isOn
            case "s": flags.dotMatchesAll = isOn
            default: throw fault("has an unsupported kind of group", at: start)
            }
            if !known.insert(letter).inserted { throw fault("repeats a modifier", at: start) }
        }
        throw fault("has an unclosed group", at: start)
    }

    /// Reads up to `>`, including escapes (section 22.2.1, RegExpIdentifierName).
    mutating func groupName() throws(PatternFault) -> String {
        let start = index
        var name = ""
        while let scalar = next() {
            if scalar == ">", !name.isEmpty { return name }
            var part = scalar
            if scalar == "\\" {
                guard next() == "u", let value = Unicode.Scalar(try unicode(index - 2)) else {
                    throw fault("has a group with an invalid name", at: start)
                }
                part = value
            }
            let isFit =
                part == "_" || part == "$" || part.properties.isIDStart
                || !name.isEmpty && (part.properties.isIDContinue || part == "\u{200C}" || part == "\u{200D}")
            guard isFit else { throw fault("has a group with an invalid name", at: start) }
            name.unicodeScalars.append(part)
        }
        throw fault("has a group with an invalid name", at: start)
    }
}

extension PatternParser {
    mutating func quantifier() throws(PatternFault) -> (least: Int, most: Int?)? {
        let start = index
        switch peek {
        case "*":
            index += 1
            return (0, nil)
        case "+":
            index += 1
            return (1, nil)
        case "?":
            index += 1
            return (0, 1)
        case "{": index += 1
        default: return nil
        }
        guard let least = count() else { throw fault("has an unescaped {", at: start) }
        var most: Int? = least
        if peek == "," {
            index += 1
            most = count()
        }
        guard next() == "}" else { throw fault("has an unclosed quantifier", at: start) }
        if let most, most < least { throw fault("has a quantifier whose maximum is below its minimum", at: start) }
        return (least, most)
    }

    private mutating func count() -> Int? {
        var value: Int?
        while let scalar = peek, scalar >= "0", scalar <= "9" {
            value = min((value ?? 0) * 10 + Int(scalar.value - 0x30), 1 << 27)
            if value ?? 0 > Self.maximumCount {
                note("repeats more than \(Self.maximumCount) times", at: index, .tooLarge)
            }
            index += 1
        }
        return value
    }
}
