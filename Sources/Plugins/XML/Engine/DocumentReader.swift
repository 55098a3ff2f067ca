import ErrandSupport

/// Checks that a UTF-8 document is well-formed (XML 1.0, with namespaces) and produces its events.
///
/// Document types can't declare entities, so only XML's five predefined entities exist. An incomplete construct, such
/// as half a tag, waits in a buffer for more bytes. Its size is limited, and its bytes are searched only once.
struct DocumentReader: Sendable {
    let limits: XMLLimits
    var namespaces = NamespaceScope()
    var open: [NameTable.Entry] = []
    var hasRoot = false
    var hasDocumentType = false
    var isInCDATA = false
    var isAtStart = true

    /// The incomplete construct.
    private var buffer: [UInt8] = []
    /// The bytes of the construct that were already searched for its end.
    var searched = 0
    /// The construct's open quotation mark, or 0.
    var quote: UInt8 = 0

    /// Not part of an event yet.
    private var text: [UInt8] = []
    private var events: [XMLEvent] = []
    private var location = XMLLocation()

    init(_ limits: XMLLimits) { self.limits = limits }

    var end: XMLLocation { buffer.withSpan { location.behind($0) } }

    mutating func takeEvents() -> [XMLEvent] {
        flush()
        let taken = events
        events = []
        events.reserveCapacity(taken.count)
        return taken
    }

    private mutating func flush() {
        if text.isEmpty { return }
        events.append(.text(String(decoding: text, as: UTF8.self)))
        text.removeAll(keepingCapacity: true)
    }

    mutating func add(_ event: XMLEvent) {
        flush()
        events.append(event)
    }

    /// The bytes must be whole characters of valid UTF-8.
    mutating func read(_ bytes: some Sequence<UInt8>) throws(XMLError) {
        var all: [UInt8] = []
        swap(&all, &buffer)
        all.append(contentsOf: bytes)
        let part = XMLPart(bytes: all, location: location)
        var position = 0
        defer {
            location = part.location(of: position)
            buffer = position > 0 ? Array(part.bytes[position...]) : part.bytes
        }
        try read(part, &position)
    }

    func finish() throws(XMLError) {
        if isInCDATA || buffer.first == UInt8(ascii: "<") {
            throw XMLError(.truncated, "the document ends in the middle of a tag or comment", at: end)
        }
        if !open.isEmpty { throw XMLError(.truncated, "the document ends inside an element", at: end) }
        if !hasRoot { throw XMLError(.truncated, "the document ends before its root element", at: end) }
    }

    private mutating func read(_ part: XMLPart, _ position: inout Int) throws(XMLError) {
        while position < part.count {
            let start = position
            let isComplete: Bool
            if isInCDATA {
                isComplete = try readText(part, &position)
            } else if part[position] == UInt8(ascii: "<") {
                isComplete = try readMarkup(part, &position)
            } else if open.isEmpty {
                isComplete = try readSpace(part, &position)
            } else {
                isComplete = try readText(part, &position)
            }
            if position > start { (isAtStart, searched, quote) = (false, 0, 0) }
            if !isComplete { return }
        }
    }

    // MARK: Text

    private func readSpace(_ part: XMLPart, _ position: inout Int) throws(XMLError) -> Bool {
        while position < part.count, XMLCharacters.isSpace(part[position]) { position += 1 }
        if position == part.count || part[position] == UInt8(ascii: "<") { return true }
        let message =
            hasRoot ? "there's content after the root element" : "the document does not begin with an element"
        throw part.malformed(message, position)
    }

    /// Reads up to the next markup or the end of a CDATA section. Returns `false` if more bytes are needed.
    private mutating func readText(_ part: XMLPart, _ position: inout Int) throws(XMLError) -> Bool {
        while position < part.count {
            try readPlain(part, &position)
            guard position < part.count else { break }
            switch part[position] {
            case UInt8(ascii: "<"), UInt8(ascii: "&"):
                if isInCDATA {
                    text.append(part[position])
                    position += 1
                } else if part[position] == UInt8(ascii: "<") {
                    return true
                } else {
                    guard let end = try endOfReference(part, position) else { return false }
                    try XMLReference.append(part, (position + 1)..<end, to: &text)
                    position = end + 1
                    searched = 0
                }
            case UInt8(ascii: "]"):
                guard let isEnd = Self.endsCDATA(part, position) else { return false }
                if isEnd, !isInCDATA { throw part.malformed("text contains ]]>", position + 3) }
                if isEnd {
                    isInCDATA = false
                    position += 3
                    return true
                }
                text.append(part[position])
                position += 1
            case UInt8(ascii: "\r"):
                // CR LF and CR become LF (section 2.11).
                guard position + 1 < part.count else { return false }
                text.append(UInt8(ascii: "\n"))
                position += part[position + 1] == UInt8(ascii: "\n") ? 2 : 1
            default: throw part.malformed("a character isn't allowed in XML", position)
            }
        }
        return true
    }

    private mutating func readPlain(_ part: XMLPart, _ position: inout Int) throws(XMLError) {
        let start = position
        while position < part.count {
            if position + 8 <= part.count, XMLCharacters.arePlain(part.word(position)) {
                position += 8
            } else if XMLCharacters.isPlain(part[position]) {
                position += 1
            } else if part[position] == 0xEF, !XMLCharacters.isForbidden(part, position) {
                position += 3
            } else {
                break
            }
        }
        if position == start { return }
        if text.isEmpty, !isInCDATA, position < part.count, part[position] == UInt8(ascii: "<") {
            // Usually all text up to the next tag, which becomes an event without a copy in `text`.
            events.append(.text(part.string(start..<position)))
        } else {
            text.append(contentsOf: part[start..<position])
        }
    }

    /// Whether `]]>` is at the index, or `nil` if more bytes are needed.
    private static func endsCDATA(_ part: XMLPart, _ index: Int) -> Bool? {
        guard index + 1 < part.count else { return nil }
        guard part[index + 1] == UInt8(ascii: "]") else { return false }
        guard index + 2 < part.count else { return nil }
        return part[index + 2] == UInt8(ascii: ">")
    }

    /// Returns the index of the semicolon, or `nil` if more bytes are needed.
    private mutating func endOfReference(_ part: XMLPart, _ start: Int) throws(XMLError) -> Int? {
        var index = start + max(1, searched)
        while index < part.count, XMLCharacters.isInReference(part[index]) { index += 1 }
        try check(index - start, of: part, from: start)
        if index == part.count {
            searched = index - start
            return nil
        }
        if part[index] == UInt8(ascii: ";") { return index }
        throw part.malformed("an entity or character reference doesn't end with a semicolon", index)
    }
}

extension DocumentReader {
    /// Starts at the `<`. Returns `false` if more bytes are needed.
    mutating func readMarkup(_ part: XMLPart, _ position: inout Int) throws(XMLError) -> Bool {
        let start = position
        guard start + 1 < part.count else { return false }
        switch part[start + 1] {
        case UInt8(ascii: "!"): return try readDeclaration(part, &position)
        case UInt8(ascii: "?"):
            guard let end = try end(part, from: start, behind: 2, Self.endsInstruction) else { return false }
            try readInstruction(part, from: start, to: end)
            position = end + 2
        case UInt8(ascii: "/"):
            guard let end = try end(part, from: start, behind: 2, { $0[$1] == UInt8(ascii: ">") }) else { return false }
            try readEndTag(part, from: start, to: end)
            position = end + 1
        default:
            guard let end = try endOfTag(part, start) else { return false }
            try readStartTag(part, from: start, to: end)
            position = end + 1
        }
        return true
    }

    // MARK: Ends of markup

    private static func endsInstruction(_ part: XMLPart, _ index: Int) -> Bool? {
        guard part[index] == UInt8(ascii: "?") else { return false }
        return index + 1 < part.count ? part[index + 1] == UInt8(ascii: ">") : nil
    }

    /// Whether `--` and another byte are at the index, or `nil` if more bytes are needed.
    private static func endsComment(_ part: XMLPart, _ index: Int) -> Bool? {
        guard part[index] == UInt8(ascii: "-") else { return false }
        guard index + 1 < part.count else { return nil }
        guard part[index + 1] == UInt8(ascii: "-") else { return false }
        return index + 2 < part.count ? true : nil
    }

    /// Returns `nil` if more bytes are needed.
    @inline(__always) private mutating func end(
        _ part: XMLPart, from start: Int, behind count: Int, _ isEnd: (XMLPart, Int) -> Bool?
    ) throws(XMLError) -> Int? {
        var index = start + max(count, searched)
        var found: Bool? = false
        while index < part.count {
            found = isEnd(part, index)
            if found != false { break }
            index += 1
        }
        try check(index - start, of: part, from: start)
        if found == true { return index }
        searched = index - start
        return nil
    }

    /// Returns the index of the `>` outside quotation marks, or `nil` if more bytes are needed.
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
                    .refusedDocumentType, "the document type contains declarations, which are never accepted", at: start
                )
            }
            index += 1
        }
        try check(index - start, of: part, from: start)
        if index < part.count { return index }
        searched = index - start
        return nil
    }

    func check(_ count: Int, of part: XMLPart, from start: Int) throws(XMLError) {
        if count < limits.maximumMarkupBytes { return }
        throw part.failure(.tooLarge, "a tag or comment is longer than \(limits.maximumMarkupBytes) bytes", at: start)
    }

    // MARK: Contents of markup

    private static let declarations = ["<!--", "<![CDATA[", "<!DOCTYPE"].map { Array($0.utf8) }

    private mutating func readDeclaration(_ part: XMLPart, _ position: inout Int) throws(XMLError) -> Bool {
        let start = position
        let rest = part.bytes[start...]
        guard let index = Self.declarations.firstIndex(where: { $0.starts(with: rest.prefix($0.count)) }) else {
            throw part.malformed("expected a comment, CDATA section or declaration after <!", start)
        }
        let markCount = Self.declarations[index].count
        guard rest.count >= markCount else { return false }
        switch index {
        case 0:
            guard let end = try end(part, from: start, behind: markCount, Self.endsComment) else { return false }
            guard part[end + 2] == UInt8(ascii: ">") else { throw part.malformed("a comment contains --", end + 2) }
            try checkCharacters(part, (start + markCount)..<end)
            position = end + 3
        case 1:
            guard !open.isEmpty else { throw part.malformed("a CDATA section is outside of the root element", start) }
            isInCDATA = true
            position += markCount
        default:
            guard !hasRoot, !hasDocumentType else {
                throw part.malformed("a document type declaration isn't allowed here", start)
            }
            guard let end = try endOfTag(part, start, isDocumentType: true) else { return false }
            try checkCharacters(part, (start + markCount)..<end)
            guard let type = DocumentType(part[(start + markCount)..<end]) else {
                throw part.malformed("the document type declaration is not well-formed", start)
            }
            guard limits.skipsDocumentType || !type.isExternal else {
                throw part.failure(
                    .refusedDocumentType,
                    "the document type names an external file, which isn't accepted; set XMLLimits.skipsDocumentType "
                        + "to skip it", at: start)
            }
            hasDocumentType = true
            position = end + 1
        }
        return true
    }

    private func checkCharacters(_ part: XMLPart, _ range: Range<Int>) throws(XMLError) {
        for index in range where XMLCharacters.isForbidden(part, index) {
            throw part.malformed("a character isn't allowed in XML", index)
        }
    }

    private func readInstruction(_ part: XMLPart, from start: Int, to end: Int) throws(XMLError) {
        let nameEnd = XMLCharacters.endOfName(part.bytes, from: start + 2, to: end)
        guard nameEnd > start + 2 else { throw part.malformed("a processing instruction has no name", start + 2) }
        guard nameEnd == end || XMLCharacters.isSpace(part[nameEnd]) else {
            throw part.malformed("a processing instruction has an invalid name", nameEnd)
        }
        let name = part[(start + 2)..<nameEnd]
        if name.count == 3, name.elementsEqual("xml".utf8, by: { $0 | 0x20 == $1 }) {
            guard isAtStart, start == 0, name.elementsEqual("xml".utf8) else {
                throw part.malformed("an XML declaration isn't at the start of the document", start)
            }
            guard XMLDeclaration(Array(part[start..<(end + 2)])) != nil else {
                throw part.malformed("the XML declaration is not well-formed", start)
            }
        } else if name.contains(UInt8(ascii: ":")) {
            throw part.failure(
                .invalidNamespace, "a name has more than one colon, or begins or ends with one", at: nameEnd)
        }
        try checkCharacters(part, nameEnd..<end)
    }

    private mutating func readStartTag(_ part: XMLPart, from start: Int, to end: Int) throws(XMLError) {
        if hasRoot, open.isEmpty { throw part.malformed("there's content after the root element", start) }
        let isEmpty = part[end - 1] == UInt8(ascii: "/")
        let tag = try StartTag(
            part, from: start, to: isEmpty ? end - 1 : end, maximumAttributes: limits.maximumAttributes)
        guard open.count < limits.maximumDepth else {
            let message = "elements are nested deeper than \(max(0, limits.maximumDepth)) levels"
            throw part.failure(.tooDeep, message, at: tag.end)
        }
        let element: (name: NameTable.Entry, attributes: [XMLName: String])
        do throws(XMLError) { element = try namespaces.enter(part, tag) } catch {
            throw part.failure(error.code, error.message, at: tag.end)
        }
        hasRoot = true
        add(.start(element.name.name, element.attributes))
        open.append(element.name)
        if isEmpty { close() }
    }

    private mutating func readEndTag(_ part: XMLPart, from start: Int, to end: Int) throws(XMLError) {
        guard let element = open.last else { throw part.malformed("an end tag has no start tag", end + 1) }
        let nameEnd = start + 2 + element.written.count
        guard nameEnd <= end, part[(start + 2)..<nameEnd].elementsEqual(element.written),
            part[nameEnd..<end].allSatisfy(XMLCharacters.isSpace)
        else { throw part.malformed("an end tag doesn't match its start tag", end + 1) }
        close()
    }

    private mutating func close() {
        guard let element = open.popLast() else { return }
        namespaces.leave()
        add(.end(element.name))
    }
}
