extension DocumentReader {
    /// Reads a tag, a comment or other markup from its `<`. Returns false if more bytes are needed.
    mutating func readMarkup(_ part: XMLPart, _ position: inout Int) throws(XMLError) -> Bool {
        let start = position
        guard start + 1 < part.count else { return false }
        switch part[start + 1] {
        case UInt8(ascii: "!"): return try readDeclaration(part, &position)
        case UInt8(ascii: "?"):
            guard let end = try end(part, start, behind: 2, Self.endsInstruction) else { return false }
            try readInstruction(part, start, end)
            position = end + 2
        case UInt8(ascii: "/"):
            guard let end = try end(part, start, behind: 2, { $0[$1] == UInt8(ascii: ">") }) else { return false }
            try readEndTag(part, start, end)
            position = end + 1
        default:
            guard let end = try endOfTag(part, start) else { return false }
            try readStartTag(part, start, end)
            position = end + 1
        }
        return true
    }

    // MARK: Where it ends

    private static func endsInstruction(_ part: XMLPart, _ index: Int) -> Bool? {
        guard part[index] == UInt8(ascii: "?") else { return false }
        return index + 1 < part.count ? part[index + 1] == UInt8(ascii: ">") : nil
    }

    /// Whether `--` begins at an index and one more byte is there to check; nil if more bytes are needed.
    private static func endsComment(_ part: XMLPart, _ index: Int) -> Bool? {
        guard part[index] == UInt8(ascii: "-") else { return false }
        guard index + 1 < part.count else { return nil }
        guard part[index + 1] == UInt8(ascii: "-") else { return false }
        return index + 2 < part.count ? true : nil
    }

    /// The end of some markup; nil if more bytes are needed.
    @inline(__always) private mutating func end(
        _ part: XMLPart, _ start: Int, behind count: Int, _ isEnd: (XMLPart, Int) -> Bool?
    ) throws(XMLError) -> Int? {
        var index = start + max(count, searched)
        var found: Bool? = false
        while index < part.count {
            found = isEnd(part, index)
            if found != false { break }
            index += 1
        }
        try check(index - start, part, start)
        if found == true { return index }
        searched = index - start
        return nil
    }

    /// The end of a tag or a document type: `>` outside of quotation marks; nil if more bytes are needed.
    private mutating func endOfTag(_ part: XMLPart, _ start: Int, isDocumentType: Bool = false) throws(XMLError) -> Int?
    {
        var index = start + max(1, searched)
        var quote = quote
        defer { self.quote = quote }
        while index < part.count {
            let byte = part[index]
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: ">") {
                break
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if isDocumentType, byte == UInt8(ascii: "[") {
                throw part.failure(
                    .refusedDocumentType, "a document type with declarations of its own is refused", start)
            }
            index += 1
        }
        try check(index - start, part, start)
        if index < part.count { return index }
        searched = index - start
        return nil
    }

    /// Checks the length of a construct.
    func check(_ count: Int, _ part: XMLPart, _ start: Int) throws(XMLError) {
        if count < limits.maximumMarkupBytes { return }
        throw part.failure(.tooLarge, "a tag or comment is longer than \(limits.maximumMarkupBytes) bytes", start)
    }

    // MARK: What it says

    private static let declarations = ["<!--", "<![CDATA[", "<!DOCTYPE"].map { Array($0.utf8) }

    /// A comment, the beginning of a CDATA section, or a document type.
    private mutating func readDeclaration(_ part: XMLPart, _ position: inout Int) throws(XMLError) -> Bool {
        let start = position
        let rest = part.bytes[start...]
        guard let index = Self.declarations.firstIndex(where: { $0.starts(with: rest.prefix($0.count)) }) else {
            throw part.malformed("markup is of an unknown kind", start)
        }
        let markCount = Self.declarations[index].count
        guard rest.count >= markCount else { return false }
        switch index {
        case 0:
            guard let end = try end(part, start, behind: markCount, Self.endsComment) else { return false }
            guard part[end + 2] == UInt8(ascii: ">") else { throw part.malformed("a comment contains --", end + 2) }
            try checkCharacters(part, (start + markCount)..<end)
            position = end + 3
        case 1:
            guard !open.isEmpty else { throw part.malformed("a CDATA section is outside of the root element", start) }
            isInCDATA = true
            position += markCount
        default:
            guard !hasRoot, !hasDocumentType else {
                throw part.malformed("a document type declaration is where none is allowed", start)
            }
            guard let end = try endOfTag(part, start, isDocumentType: true) else { return false }
            try checkCharacters(part, (start + markCount)..<end)
            guard let type = DocumentType(part[(start + markCount)..<end]) else {
                throw part.malformed("the document type declaration is not well-formed", start)
            }
            guard limits.skipsDocumentType || !type.isExternal else {
                throw part.failure(.refusedDocumentType, "an external document type is refused", start)
            }
            hasDocumentType = true
            position = end + 1
        }
        return true
    }

    private func checkCharacters(_ part: XMLPart, _ range: Range<Int>) throws(XMLError) {
        for index in range where XMLCharacters.isForbidden(part, index) {
            throw part.malformed("a character is not allowed", index)
        }
    }

    /// A processing instruction, or the XML declaration.
    private func readInstruction(_ part: XMLPart, _ start: Int, _ end: Int) throws(XMLError) {
        let nameEnd = XMLCharacters.endOfName(part.bytes, start + 2, end)
        guard nameEnd > start + 2 else { throw part.malformed("a processing instruction has no name", start + 2) }
        guard nameEnd == end || XMLCharacters.isSpace(part[nameEnd]) else {
            throw part.malformed("the name of a processing instruction is not one", nameEnd)
        }
        let name = part[(start + 2)..<nameEnd]
        if name.count == 3, name.elementsEqual("xml".utf8, by: { $0 | 0x20 == $1 }) {
            guard isAtStart, start == 0, name.elementsEqual("xml".utf8) else {
                throw part.malformed("an XML declaration is behind the beginning of the document", start)
            }
            guard XMLDeclaration(Array(part[start..<(end + 2)])) != nil else {
                throw part.malformed("the XML declaration is not well-formed", start)
            }
        } else if name.contains(UInt8(ascii: ":")) {
            throw part.failure(.invalidNamespace, "a name has a colon where none is allowed", nameEnd)
        }
        try checkCharacters(part, nameEnd..<end)
    }

    private mutating func readStartTag(_ part: XMLPart, _ start: Int, _ end: Int) throws(XMLError) {
        if hasRoot, open.isEmpty { throw part.malformed("there is something behind the root element", start) }
        let isEmpty = part[end - 1] == UInt8(ascii: "/")
        let tag = try StartTag(part, start, isEmpty ? end - 1 : end, maximumAttributes: limits.maximumAttributes)
        guard open.count < limits.maximumDepth else {
            let message = "elements are nested deeper than \(max(0, limits.maximumDepth)) levels"
            throw part.failure(.tooDeep, message, tag.end)
        }
        let element: (name: NameTable.Entry, attributes: [XMLName: String])
        do throws(XMLError) { element = try namespaces.enter(part, tag) } catch {
            throw part.failure(error.code, error.message, tag.end)
        }
        hasRoot = true
        add(.start(element.name.name, element.attributes))
        open.append(element.name)
        if isEmpty { close() }
    }

    private mutating func readEndTag(_ part: XMLPart, _ start: Int, _ end: Int) throws(XMLError) {
        guard let element = open.last else { throw part.malformed("an end tag has no start tag", end + 1) }
        let nameEnd = start + 2 + element.written.count
        guard nameEnd <= end, part[(start + 2)..<nameEnd].elementsEqual(element.written),
            part[nameEnd..<end].allSatisfy(XMLCharacters.isSpace)
        else { throw part.malformed("an end tag has another name than its start tag", end + 1) }
        close()
    }

    private mutating func close() {
        guard let element = open.popLast() else { return }
        namespaces.leave()
        add(.end(element.name))
    }
}
