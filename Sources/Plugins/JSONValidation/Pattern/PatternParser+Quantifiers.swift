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
        guard let least = count() else { throw fault("has a { that is not escaped", at: start) }
        var most: Int? = least
        if peek == "," {
            index += 1
            most = count()
        }
        guard next() == "}" else { throw fault("has a quantifier that is not closed", at: start) }
        if let most, most < least { throw fault("has a quantifier that ends before it begins", at: start) }
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
