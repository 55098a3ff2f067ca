/// A reference to a character, or to one of the five entities of XML (XML 1.0, sections 4.1 and 4.6).
enum XMLReference {
    private static let entities: [(name: [UInt8], value: UInt8)] = [
        ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"),
    ].map { (Array($0.utf8), UInt8(ascii: $1)) }

    /// Appends, in UTF-8, the character that the name between `&` and `;` refers to.
    static func append(_ part: XMLPart, _ range: Range<Int>, to text: inout [UInt8]) throws(XMLError) {
        let name = part[range]
        guard name.first == UInt8(ascii: "#") else {
            guard let entity = entities.first(where: { name.elementsEqual($0.name) }) else {
                throw part.malformed("an entity is not declared", range.upperBound + 1)
            }
            return text.append(entity.value)
        }
        let isHexadecimal = name.dropFirst().first == UInt8(ascii: "x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        var number: UInt32 = 0
        for digit in digits {
            guard let value = value(of: digit, isHexadecimal) else {
                throw part.malformed("a character reference is not well-formed", range.upperBound + 1)
            }
            number = min(number * (isHexadecimal ? 16 : 10) + value, 0x11_0000)
        }
        guard !digits.isEmpty else {
            throw part.malformed("a character reference is not well-formed", range.upperBound + 1)
        }
        guard let scalar = Unicode.Scalar(number), XMLCharacters.isAllowed(scalar) else {
            throw part.malformed("a character reference is of no character that is allowed", range.upperBound + 1)
        }
        text.append(contentsOf: String(scalar).utf8)
    }

    private static func value(of digit: UInt8, _ isHexadecimal: Bool) -> UInt32? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f") where isHexadecimal: UInt32(digit - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F") where isHexadecimal: UInt32(digit - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
