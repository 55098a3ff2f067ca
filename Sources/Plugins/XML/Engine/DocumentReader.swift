/// Reads a document in UTF-8, at any split into chunks: checks that it is well-formed (XML 1.0, with namespaces), and
/// produces its events.
///
/// It supports no declarations of types, and so no entities except the five of XML. An incomplete construct waits in a
/// buffer, which never grows beyond its limit, and which is not searched twice.
struct DocumentReader: Sendable {
    let limits: XMLLimits
    var namespaces = NamespaceScope()
    /// The elements that are open.
    var open: [NameTable.Entry] = []
    var hasRoot = false
    var hasDocumentType = false
    var isInCDATA = false
    /// Whether nothing has been read.
    var isAtStart = true

    /// The bytes of an incomplete construct.
    private var buffer: [UInt8] = []
    /// The number of bytes of that construct that were searched for its end.
    var searched = 0
    /// The quotation mark that is open there; 0 for none.
    var quote: UInt8 = 0

    /// Text that is not part of an event yet.
    private var text: [UInt8] = []
    private var events: [XMLEvent] = []
    /// The position behind the last byte that was read.
    private var location = XMLLocation()

    init(_ limits: XMLLimits) { self.limits = limits }

    /// The position behind the last byte.
    var end: XMLLocation { location.behind(buffer.span) }

    /// Takes the events since the last time.
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

    /// Appends an event behind the text before it.
    mutating func add(_ event: XMLEvent) {
        flush()
        events.append(event)
    }

    /// Reads the next bytes: whole characters of valid UTF-8. After a failure the events before it can still be taken.
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

    /// The document has ended.
    func finish() throws(XMLError) {
        if isInCDATA || buffer.first == UInt8(ascii: "<") {
            throw XMLError(.truncated, "the document ends within a tag or comment", at: end)
        }
        if !open.isEmpty { throw XMLError(.truncated, "the document ends within an element", at: end) }
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

    /// White space outside of the root element.
    private func readSpace(_ part: XMLPart, _ position: inout Int) throws(XMLError) -> Bool {
        while position < part.count, XMLCharacters.isSpace(part[position]) { position += 1 }
        if position == part.count || part[position] == UInt8(ascii: "<") { return true }
        let message =
            hasRoot ? "there is something behind the root element" : "the document does not begin with an element"
        throw part.malformed(message, position)
    }

    /// Text up to the next markup, or the content of a CDATA section up to its end. Returns false if more bytes are
    /// needed.
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
                // CR LF and CR are LF (section 2.11).
                guard position + 1 < part.count else { return false }
                text.append(UInt8(ascii: "\n"))
                position += part[position + 1] == UInt8(ascii: "\n") ? 2 : 1
            default: throw part.malformed("a character is not allowed", position)
            }
        }
        return true
    }

    /// Appends plain text.
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
            // All of a text, mostly.
            events.append(.text(part.string(start..<position)))
        } else {
            text.append(contentsOf: part[start..<position])
        }
    }

    /// Whether `]]>` begins at an index; nil if more bytes are needed.
    private static func endsCDATA(_ part: XMLPart, _ index: Int) -> Bool? {
        guard index + 1 < part.count else { return nil }
        guard part[index + 1] == UInt8(ascii: "]") else { return false }
        guard index + 2 < part.count else { return nil }
        return part[index + 2] == UInt8(ascii: ">")
    }

    /// The index of the `;` of a reference; nil if more bytes are needed.
    private mutating func endOfReference(_ part: XMLPart, _ start: Int) throws(XMLError) -> Int? {
        var index = start + max(1, searched)
        while index < part.count, XMLCharacters.isInReference(part[index]) { index += 1 }
        try check(index - start, part, start)
        if index == part.count {
            searched = index - start
            return nil
        }
        if part[index] == UInt8(ascii: ";") { return index }
        throw part.malformed("a reference has no semicolon", index)
    }
}
