import ErrandSupport

/// A start tag or an empty-element tag (XML 1.0, section 3.1).
struct StartTag {
    let name: Range<Int>
    /// In document order, with normalized values (section 3.3.3).
    private(set) var attributes: [(name: Range<Int>, value: String)] = []
    /// The index of `>` or `/>`.
    let end: Int

    /// The end must be outside quotation marks.
    init(_ part: XMLPart, from start: Int, to end: Int, maximumAttributes: Int) throws(XMLError) {
        self.end = end
        var index = XMLCharacters.endOfName(part.bytes, from: start + 1, to: end)
        guard index > start + 1 else { throw part.malformed("a name is missing", start + 1) }
        name = (start + 1)..<index
        while true {
            let first = Self.skipSpace(part, from: index, to: end)
            if first == end { return }
            guard first > index else { throw part.malformed("white space is missing between attributes", index) }
            index = try readAttribute(part, from: first, to: end)
            guard attributes.count <= maximumAttributes else {
                throw part.failure(.tooLarge, "an element has more than \(maximumAttributes) attributes", at: start)
            }
        }
    }

    private mutating func readAttribute(_ part: XMLPart, from start: Int, to end: Int) throws(XMLError) -> Int {
        let nameEnd = XMLCharacters.endOfName(part.bytes, from: start, to: end)
        guard nameEnd > start else { throw part.malformed("a name is missing", start) }
        var index = Self.skipSpace(part, from: nameEnd, to: end)
        guard index < end, part[index] == UInt8(ascii: "=") else {
            throw part.malformed("an attribute has no value", index)
        }
        index = Self.skipSpace(part, from: index + 1, to: end)
        guard index < end, part[index] == UInt8(ascii: "\"") || part[index] == UInt8(ascii: "'") else {
            throw part.malformed("an attribute has no quotes around its value", index)
        }
        let quote = part[index]
        let first = index + 1
        index = first
        while index < end, part[index] != quote, XMLCharacters.isPlainInValue(part[index]) { index += 1 }
        if index < end, part[index] == quote {
            attributes.append((start..<nameEnd, part.string(first..<index)))
            return index + 1
        }
        var value = Array(part[first..<index])
        while index < end, part[index] != quote { index = try readSpecial(part, at: index, end: end, into: &value) }
        guard index < end else { throw part.malformed("an attribute's value has no closing quote", end) }
        attributes.append((start..<nameEnd, String(decoding: value, as: UTF8.self)))
        return index + 1
    }

    /// Appends a reference or another character that needs a check. Returns the index after it.
    private func readSpecial(
        _ part: XMLPart, at index: Int, end: Int, into value: inout [UInt8]
    ) throws(XMLError) -> Int {
        switch part[index] {
        case UInt8(ascii: "<"): throw part.malformed("an attribute's value contains <", index)
        case UInt8(ascii: "&"):
            var last = index + 1
            while last < end, XMLCharacters.isInReference(part[last]) { last += 1 }
            guard last < end, part[last] == UInt8(ascii: ";") else {
                throw part.malformed("an entity or character reference doesn't end with a semicolon", last)
            }
            try XMLReference.append(part, (index + 1)..<last, to: &value)
            return last + 1
        case UInt8(ascii: "\t"), UInt8(ascii: "\n"): value.append(UInt8(ascii: " "))
        case UInt8(ascii: "\r"):
            // CR LF becomes one character before whitespace is normalized (section 2.11), so it becomes only one space.
            value.append(UInt8(ascii: " "))
            if index + 1 < end, part[index + 1] == UInt8(ascii: "\n") { return index + 2 }
        default:
            if XMLCharacters.isForbidden(part, index) {
                throw part.malformed("a character isn't allowed in XML", index)
            }
            value.append(part[index])
        }
        return index + 1
    }

    private static func skipSpace(_ part: XMLPart, from start: Int, to end: Int) -> Int {
        var index = start
        while index < end, XMLCharacters.isSpace(part[index]) { index += 1 }
        return index
    }
}

/// Character references and XML's five predefined entities (XML 1.0, sections 4.1 and 4.6).
enum XMLReference {
    private static let entities: [(name: [UInt8], value: UInt8)] = [
        ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"),
    ].map { (Array($0.utf8), UInt8(ascii: $1)) }

    /// The range is between `&` and `;`.
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
            throw part.malformed("a character reference is for a disallowed character", range.upperBound + 1)
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

struct XMLPart {
    let bytes: [UInt8]
    let location: XMLLocation

    var count: Int { bytes.count }
    subscript(_ index: Int) -> UInt8 { bytes[index] }
    func word(_ index: Int) -> UInt64 {
        bytes.withSpan { $0.littleEndian(at: index) }
    }

    subscript(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    func location(of index: Int) -> XMLLocation { bytes.withSpan { location.behind($0.extracting(0..<index)) } }

    func failure(_ code: XMLError.Code, _ message: String, at index: Int) -> XMLError {
        XMLError(code, message, at: location(of: min(index, count)))
    }

    func malformed(_ message: String, _ index: Int) -> XMLError { failure(.malformed, message, at: index) }

    func string(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }
}

struct XMLLocation: Sendable {
    /// From 1. Only LF ends a line.
    var line = 1
    var column = 1

    /// Counts columns in characters.
    func behind(_ bytes: Span<UInt8>) -> XMLLocation {
        var location = self
        var start = 0
        var lines = 0
        for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") { lines += 1 }
        if lines > 0 {
            location = XMLLocation(line: line + lines, column: 1)
            start = bytes.count
            while bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
        }
        for index in start..<bytes.count where bytes[index] & 0xC0 != 0x80 { location.column += 1 }
        return location
    }
}
