/// A start tag, or that of an empty element (XML 1.0, section 3.1).
struct StartTag {
    /// The range of the name.
    let name: Range<Int>
    /// The attributes in the order of the document: the ranges of names, and values, normalized (section 3.3.3).
    private(set) var attributes: [(name: Range<Int>, value: String)] = []
    /// The index of `>` or `/>`.
    let end: Int

    /// Reads a tag from its `<` to its end, which is outside of all quotation marks.
    init(_ part: XMLPart, _ start: Int, _ end: Int, maximumAttributes: Int) throws(XMLError) {
        self.end = end
        var index = XMLCharacters.endOfName(part.bytes, start + 1, end)
        guard index > start + 1 else { throw part.malformed("a name is missing", start + 1) }
        name = (start + 1)..<index
        while true {
            let first = Self.skipSpace(part, index, end)
            if first == end { return }
            guard first > index else { throw part.malformed("white space is missing between attributes", index) }
            index = try readAttribute(part, first, end)
            guard attributes.count <= maximumAttributes else {
                throw part.failure(.tooLarge, "an element has more than \(maximumAttributes) attributes", start)
            }
        }
    }

    /// Returns the index behind the attribute.
    private mutating func readAttribute(_ part: XMLPart, _ start: Int, _ end: Int) throws(XMLError) -> Int {
        let nameEnd = XMLCharacters.endOfName(part.bytes, start, end)
        guard nameEnd > start else { throw part.malformed("a name is missing", start) }
        var index = Self.skipSpace(part, nameEnd, end)
        guard index < end, part[index] == UInt8(ascii: "=") else {
            throw part.malformed("an attribute has no value", index)
        }
        index = Self.skipSpace(part, index + 1, end)
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
        while index < end, part[index] != quote { index = try readSpecial(part, index, end, &value) }
        guard index < end else { throw part.malformed("an attribute has no end of its value", end) }
        attributes.append((start..<nameEnd, String(decoding: value, as: UTF8.self)))
        return index + 1
    }

    /// A byte of a value, or a reference. Returns the index behind it.
    private func readSpecial(
        _ part: XMLPart, _ index: Int, _ end: Int, _ value: inout [UInt8]
    ) throws(XMLError) -> Int {
        switch part[index] {
        case UInt8(ascii: "<"): throw part.malformed("an attribute has a < in its value", index)
        case UInt8(ascii: "&"):
            var last = index + 1
            while last < end, XMLCharacters.isInReference(part[last]) { last += 1 }
            guard last < end, part[last] == UInt8(ascii: ";") else {
                throw part.malformed("a reference has no semicolon", last)
            }
            try XMLReference.append(part, (index + 1)..<last, to: &value)
            return last + 1
        case UInt8(ascii: "\t"), UInt8(ascii: "\n"): value.append(UInt8(ascii: " "))
        case UInt8(ascii: "\r"):
            // A line end is one character before it is white space (section 2.11).
            value.append(UInt8(ascii: " "))
            if index + 1 < end, part[index + 1] == UInt8(ascii: "\n") { return index + 2 }
        default:
            if XMLCharacters.isForbidden(part, index) { throw part.malformed("a character is not allowed", index) }
            value.append(part[index])
        }
        return index + 1
    }

    private static func skipSpace(_ part: XMLPart, _ start: Int, _ end: Int) -> Int {
        var index = start
        while index < end, XMLCharacters.isSpace(part[index]) { index += 1 }
        return index
    }
}
