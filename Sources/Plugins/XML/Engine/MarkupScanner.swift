/// Passes a document in UTF-8 on to the parser, with what the parser must not see taken out.
///
/// It finds where tags, comments and the like begin and end, refuses what is too large before the parser has it, and
/// replaces two things by spaces, so that places stay right: a document type declaration, and the name of a charset in the
/// XML declaration, since the text is in UTF-8 by then.
struct MarkupScanner {
    private enum State {
        case text, open, bang, declaration, instruction, comment, cdata, tag, documentType
        case quoted(UInt8)
        case documentTypeQuoted(UInt8)
    }

    private let limits: XMLLimits
    private var state = State.text
    private var pending: [UInt8] = []
    private var start = (line: 1, column: 1)
    private var markupBytes = 0
    private var attributes = 0
    private var tail: UInt32 = 0
    /// Whether there is more in an instruction than its name.
    private var hasInstructionData = false
    private var isInProlog = true
    private var hasDocumentType = false
    /// Elements that have begun, without those that have ended.
    private(set) var depth = 0
    private var isEndTag = false
    /// Whether there is text outside of all markup that is more than white space.
    private(set) var hasText = false
    /// Behind the last byte.
    private(set) var place = (line: 1, column: 1)

    init(_ limits: XMLLimits) { self.limits = limits }

    /// Whether the document ends within a tag, a comment or the like.
    var isWithinMarkup: Bool { if case .text = state { false } else { true } }
    /// Whether it may end here: behind its root element.
    var isComplete: Bool { !isWithinMarkup && depth <= 0 && !isInProlog }

    /// Appends what the parser may see. What comes before a failure is appended as well.
    mutating func scan(_ bytes: [UInt8], into output: inout [UInt8]) throws(XMLError) {
        output.reserveCapacity(output.count + bytes.count + pending.count)
        for byte in bytes {
            try step(byte, &output)
            if byte == UInt8(ascii: "\n") {
                place = (place.line + 1, 1)
            } else if byte & 0xC0 != 0x80 {
                place.column += 1
            }
        }
    }

    private mutating func step(_ byte: UInt8, _ output: inout [UInt8]) throws(XMLError) {
        switch state {
        case .text:
            guard byte == UInt8(ascii: "<") else {
                if !hasText, !XMLDeclaration.isSpace(byte) { hasText = true }
                output.append(byte)
                return
            }
            (state, pending, start, markupBytes, attributes, tail) = (.open, [byte], place, 0, 0, 0)
        case .open: open(byte, &output)
        case .bang: try bang(byte, &output)
        case .declaration: try declaration(byte, &output)
        case .documentType, .documentTypeQuoted: try documentType(byte, &output)
        case .instruction: try instruction(byte, &output)
        case .comment: try pass(byte, &output, until: 0x2D_2D3E, of: 0xFF_FFFF)
        case .cdata:
            output.append(byte)
            tail = tail << 8 | UInt32(byte)
            if tail & 0xFF_FFFF == 0x5D_5D3E { state = .text }
        case .tag:
            switch byte {
            case UInt8(ascii: ">"):
                state = .text
                if isEndTag { depth -= 1 } else if tail != UInt8(ascii: "/") { depth += 1 }
            case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .quoted(byte)
            case UInt8(ascii: "="): attributes += 1
            default: break
            }
            tail = UInt32(byte)
            try grow()
            output.append(byte)
        case .quoted(let quote):
            if byte == quote { state = .tag }
            try grow()
            output.append(byte)
        }
    }

    /// Counts a byte of markup.
    private mutating func grow() throws(XMLError) {
        markupBytes += 1
        guard markupBytes <= limits.maximumMarkupBytes else {
            throw XMLError(.tooLarge, "a tag or comment is longer than \(limits.maximumMarkupBytes) bytes", at: start)
        }
        guard attributes <= limits.maximumAttributes else {
            throw XMLError(.tooLarge, "an element has more than \(limits.maximumAttributes) attributes", at: start)
        }
    }

    private mutating func pass(
        _ byte: UInt8, _ output: inout [UInt8], until end: UInt32, of mask: UInt32
    ) throws(XMLError) {
        try grow()
        output.append(byte)
        tail = tail << 8 | UInt32(byte)
        if tail & mask == end { state = .text }
    }

    /// Passes on what there is of a processing instruction, which may be all but its last character.
    private mutating func beginInstruction(_ output: inout [UInt8]) {
        let bytes = pending.dropFirst(2)
        pending.removeLast(bytes.count)
        hasInstructionData = false
        release(&output, as: .instruction)
        for byte in bytes { instruct(byte, &output) }
    }

    private mutating func instruction(_ byte: UInt8, _ output: inout [UInt8]) throws(XMLError) {
        try grow()
        instruct(byte, &output)
    }

    /// A byte behind `<?`. Foundation's parser fails for an instruction that ends right behind its name: it gets one with a
    /// space there.
    private mutating func instruct(_ byte: UInt8, _ output: inout [UInt8]) {
        if !hasInstructionData {
            if byte == UInt8(ascii: ">"), tail & 0xFF == 0x3F { output += Array(" ?".utf8) }
            if byte != UInt8(ascii: ">"), tail & 0xFF == 0x3F { output.append(0x3F) }
            if XMLDeclaration.isSpace(byte) { hasInstructionData = true }
        }
        tail = tail << 8 | UInt32(byte)
        if hasInstructionData || byte != 0x3F { output.append(byte) }
        if tail & 0xFFFF == 0x3F3E { state = .text }
    }

    private mutating func release(_ output: inout [UInt8], as state: State) {
        output += pending
        pending.removeAll(keepingCapacity: true)
        self.state = state
    }

    private mutating func open(_ byte: UInt8, _ output: inout [UInt8]) {
        pending.append(byte)
        switch byte {
        case UInt8(ascii: "!"): state = .bang
        case UInt8(ascii: "?") where start == (1, 1): state = .declaration
        case UInt8(ascii: "?"): beginInstruction(&output)
        default:
            isInProlog = false
            isEndTag = byte == UInt8(ascii: "/")
            release(&output, as: byte == UInt8(ascii: ">") ? .text : .tag)
        }
    }

    private static let marks: [([UInt8], State)] = [
        (Array("<!--".utf8), .comment), (Array("<![CDATA[".utf8), .cdata), (Array("<!DOCTYPE".utf8), .documentType),
    ]

    private mutating func bang(_ byte: UInt8, _ output: inout [UInt8]) throws(XMLError) {
        pending.append(byte)
        guard let (mark, next) = Self.marks.first(where: { $0.0.starts(with: pending) }) else {
            return release(&output, as: byte == UInt8(ascii: ">") ? .text : .tag)
        }
        guard mark.count == pending.count else { return }
        guard case .documentType = next else { return release(&output, as: next) }
        guard isInProlog, !hasDocumentType, !hasText else {
            throw XMLError(.malformed, "a document type declaration is where none is allowed", at: start)
        }
        (hasDocumentType, state) = (true, next)
    }

    private mutating func declaration(_ byte: UInt8, _ output: inout [UInt8]) throws(XMLError) {
        pending.append(byte)
        if XMLDeclaration.begins(pending) == false { return beginInstruction(&output) }
        guard pending.suffix(2).elementsEqual("?>".utf8) else {
            if pending.count < XMLDeclaration.maximumBytes { return }
            throw XMLError(.malformed, "the XML declaration has no end", at: start)
        }
        guard let declaration = XMLDeclaration(pending) else {
            throw XMLError(.malformed, "the XML declaration is not well-formed", at: start)
        }
        for index in declaration.encodingRange ?? 0..<0 where pending[index] != UInt8(ascii: "\n") {
            pending[index] = UInt8(ascii: " ")
        }
        release(&output, as: .text)
    }

    private mutating func documentType(_ byte: UInt8, _ output: inout [UInt8]) throws(XMLError) {
        try grow()
        pending.append(byte)
        if case .documentTypeQuoted(let quote) = state {
            if byte == quote { state = .documentType }
            return
        }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .documentTypeQuoted(byte)
        case UInt8(ascii: "["):
            throw XMLError(.documentType, "a document type with declarations of its own is refused", at: start)
        case UInt8(ascii: ">"):
            guard let type = DocumentType(pending.dropLast().dropFirst("<!DOCTYPE".utf8.count)) else {
                throw XMLError(.malformed, "the document type declaration is not well-formed", at: start)
            }
            guard limits.skipsDocumentType || !type.isExternal else {
                throw XMLError(.documentType, "an external document type is refused", at: start)
            }
            pending = pending.compactMap { $0 == 0x0A ? 0x0A : $0 & 0xC0 == 0x80 ? nil : 0x20 }
            release(&output, as: .text)
        default: break
        }
    }
}
