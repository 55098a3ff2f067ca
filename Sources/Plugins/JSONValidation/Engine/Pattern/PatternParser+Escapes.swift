extension PatternParser {
    /// Parses an escape after its backslash.
    mutating func escapeOutsideClass(_ start: Int) throws(PatternFault) -> PatternNode {
        switch peek {
        case "b":
            place += 1
            return .assertion(.boundary)
        case "B":
            place += 1
            return .assertion(.noBoundary)
        case "k": throw unsupported("has a backreference, which is not supported", at: start)
        case let digit? where digit >= "1" && digit <= "9":
            throw unsupported("has a backreference, which is not supported", at: start)
        default: return .set(try escape(start, isInClass: false))
        }
    }

    /// Parses a class after its opening bracket, including the closing one.
    mutating func characterClass(_ start: Int) throws(PatternFault) -> PatternSet {
        var set = PatternSet()
        if peek == "^" {
            place += 1
            set.isNegated = true
        }
        while peek != "]" {
            let first = place
            let low = try classAtom(start)
            guard peek == "-", place + 1 < scalars.count, scalars[place + 1] != "]" else {
                set.add(low)
                continue
            }
            place += 1
            let high = try classAtom(start)
            guard let lower = low.single, let upper = high.single else {
                throw fault("has a range that does not go from one character to another", at: first)
            }
            if upper < lower { throw fault("has a range that ends before it begins", at: first) }
            set.ranges.append(lower...upper)
        }
        place += 1
        return set
    }

    private mutating func classAtom(_ start: Int) throws(PatternFault) -> PatternSet {
        let place = place
        guard let scalar = next() else { throw fault("has a class that is not closed", at: start) }
        switch scalar {
        case "\\": return try escape(place, isInClass: true)
        case "[": throw fault("has a [ within a class that is not escaped", at: place)
        default: return PatternSet(scalar)
        }
    }

    /// Parses an escape for characters, after its backslash.
    private mutating func escape(_ start: Int, isInClass: Bool) throws(PatternFault) -> PatternSet {
        guard let letter = next() else { throw fault("ends within an escape", at: start) }
        switch letter {
        case "d": return .digit
        case "D": return PatternSet.digit.negated
        case "w": return .word
        case "W": return PatternSet.word.negated
        case "s": return .space
        case "S": return PatternSet.space.negated
        case "p", "P": return try property(start, isNegated: letter == "P")
        case "t": return PatternSet("\t")
        case "n": return PatternSet("\n")
        case "v": return PatternSet("\u{0B}")
        case "f": return PatternSet("\u{0C}")
        case "r": return PatternSet("\r")
        case "b" where isInClass: return PatternSet("\u{08}")
        case "0":
            if let digit = peek, digit >= "0", digit <= "9" { throw fault("has an octal escape", at: start) }
            return PatternSet("\0")
        case "c":
            guard let control = next(), control.isASCII, control.properties.isAlphabetic else {
                throw fault("has an invalid escape", at: start)
            }
            return PatternSet([control.value & 0x1F...control.value & 0x1F])
        case "x": return try scalar(start, try hexadecimal(2, start))
        case "u": return try unicode(start)
        default:
            // Syntax characters and the slash, as in the grammar; other punctuation has no other meaning.
            guard letter.isASCII, letter.value > 0x20, !letter.properties.isAlphabetic, letter.value != 0x7F,
                letter < "0" || letter > "9"
            else { throw fault("has an invalid escape", at: start) }
            return PatternSet(letter)
        }
    }

    private mutating func unicode(_ start: Int) throws(PatternFault) -> PatternSet {
        if peek == "{" {
            place += 1
            var value: UInt32 = 0
            var count = 0
            while let digit = peek?.hexadecimal {
                value = min(value << 4 | digit, 0x11_0000)
                (place, count) = (place + 1, count + 1)
            }
            guard next() == "}", count > 0 else { throw fault("has an invalid escape", at: start) }
            return try scalar(start, value)
        }
        let unit = try hexadecimal(4, start)
        guard unit & 0xFC00 == 0xD800, skip("\\u") else { return try scalar(start, unit) }
        let low = try hexadecimal(4, start)
        guard low & 0xFC00 == 0xDC00 else { throw fault("has half a surrogate pair", at: start) }
        return try scalar(start, 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF)
    }

    private mutating func hexadecimal(_ count: Int, _ start: Int) throws(PatternFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let digit = next()?.hexadecimal else { throw fault("has an invalid escape", at: start) }
            value = value << 4 | digit
        }
        return value
    }

    private func scalar(_ start: Int, _ value: UInt32) throws(PatternFault) -> PatternSet {
        guard let scalar = Unicode.Scalar(value) else { throw fault("has an escape for no character", at: start) }
        return PatternSet(scalar)
    }

    private mutating func property(_ start: Int, isNegated: Bool) throws(PatternFault) -> PatternSet {
        guard next() == "{" else { throw fault("has an invalid escape", at: start) }
        var name = ""
        while let scalar = next(), scalar != "}" { name.unicodeScalars.append(scalar) }
        guard scalars[place - 1] == "}", let property = PatternProperty(name) else {
            let isKnownElsewhere = ["Script=", "sc=", "Script_Extensions=", "scx="].contains { name.hasPrefix($0) }
            throw isKnownElsewhere
                ? unsupported("has a script, which is not supported", at: start)
                : fault("has a Unicode property that is not known", at: start)
        }
        var set = PatternSet()
        set.properties = [(property, isNegated)]
        return set
    }
}

extension PatternSet {
    /// The scalar of a set with a single one.
    fileprivate var single: UInt32? {
        guard !isNegated, properties.isEmpty, ranges.count == 1, ranges[0].count == 1 else { return nil }
        return ranges[0].lowerBound
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
