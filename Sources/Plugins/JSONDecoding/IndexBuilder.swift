import ErrandJSONSyntax

/// Builds a text's index and checks the whole text (RFC 8259) in one pass.
struct IndexBuilder {
    /// The same limit as in `JSONDecoder`.
    static let maximumDepth = 512
    /// The parent of a container at the top level.
    private static let none = IndexEntry.limit

    static func entries(
        of text: ContiguousArray<UInt8>
    ) throws(JSONDecodingError) -> ContiguousArray<IndexEntry> {
        try checkLength(text.count)
        // An entry for every eight bytes is enough for most texts.
        let empty = IndexEntry(.null, start: 0, length: 0)
        var entries = ContiguousArray(repeating: empty, count: text.count / 8 + 32)
        var progress = Progress()
        var stop = index(text.span, &progress, into: entries.mutableSpan)
        while stop.problem == .noRoom {
            entries += repeatElement(empty, count: entries.count)
            stop = index(text.span, &progress, into: entries.mutableSpan)
        }
        entries.removeLast(entries.count - progress.count)
        guard let problem = stop.problem else { return entries }
        switch problem {
        case .fault(.empty): throw JSONDecodingError(.malformedJSON, "expected a value, found an empty text", byte: 0)
        case .fault(let fault):
            let found = fault.found(in: text.span, at: stop.index)
            throw JSONDecodingError(.malformedJSON, "expected \(fault.expected), found \(found)", byte: stop.index)
        case .noRoom, .depth:
            throw JSONDecodingError(
                .tooDeep, "expected at most \(maximumDepth) open arrays and objects", byte: stop.index)
        }
    }

    static func checkLength(_ count: Int) throws(JSONDecodingError) {
        guard count <= IndexEntry.limit else {
            throw JSONDecodingError(.tooLarge, "expected at most 1 GiB of text", byte: IndexEntry.limit)
        }
    }

    private enum Problem: Equatable {
        case fault(JSONFault)
        case depth
        /// Indexing continues with more entries.
        case noRoom
    }

    private struct Progress {
        var index = 0
        var count = 0
        /// The index of the innermost open container's entry.
        var open = IndexBuilder.none
        var isObject = false
        var depth = 0
    }

    private struct Stop {
        let index: Int
        var problem: Problem?

        @inline(__always) init(_ index: Int, _ problem: Problem? = nil) {
            (self.index, self.problem) = (index, problem)
        }

        @inline(__always) init(_ index: Int, _ fault: JSONFault) { self.init(index, .fault(fault)) }
    }

    private struct StringToken {
        let end: JSONTokenEnd
        var kind = IndexEntry.Kind.string
        var isASCII = true

        @inline(__always) init(_ text: Span<UInt8>, at quote: Int) {
            let plain = JSONGrammar.asciiEnd(in: text, from: quote &+ 1)
            if plain < text.count, text[plain] == JSONGrammar.quote {
                end = JSONTokenEnd(plain &+ 1)
            } else {
                end = JSONGrammar.string(in: text, from: plain)
                isASCII = false
                if end.fault == .none, JSONGrammar.hasEscapes(text.extracting(plain..<end.index)) {
                    kind = .escapedString
                }
            }
        }

        @inline(__always) func entry(at quote: Int) -> IndexEntry {
            IndexEntry(kind, start: quote &+ 1, length: end.index &- quote &- 2)
        }
    }

    @inline(__always) private static func skip(_ text: Span<UInt8>, _ index: inout Int) -> UInt8 {
        index = JSONGrammar.skipSpace(in: text, from: index)
        return index < text.count ? text[index] : 0
    }

    @inline(__always) private static func scalar(
        _ text: Span<UInt8>, _ byte: UInt8, at start: Int
    ) -> (entry: IndexEntry, end: JSONTokenEnd)? {
        func entry(_ kind: IndexEntry.Kind, _ end: JSONTokenEnd) -> (entry: IndexEntry, end: JSONTokenEnd) {
            (IndexEntry(kind, start: start, length: end.index &- start), end)
        }
        switch byte {
        case JSONGrammar.quote:
            let string = StringToken(text, at: start)
            return (string.entry(at: start), string.end)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let (end, isPlain) = JSONGrammar.number(in: text, from: start)
            return entry(isPlain ? .integer : .number, end)
        case UInt8(ascii: "t"): return entry(.true, JSONGrammar.literal(in: text, from: start))
        case UInt8(ascii: "f"): return entry(.false, JSONGrammar.literal(in: text, from: start))
        case UInt8(ascii: "n"): return entry(.null, JSONGrammar.literal(in: text, from: start))
        default: return nil
        }
    }

    private static func index(
        _ text: Span<UInt8>, _ progress: inout Progress, into entries: consuming MutableSpan<IndexEntry>
    ) -> Stop {
        // Local copies stay in registers.
        var (index, count, open) = (progress.index, progress.count, progress.open)
        var (isObject, depth) = (progress.isObject, progress.depth)
        defer { progress = Progress(index: index, count: count, open: open, isObject: isObject, depth: depth) }
        var byte = skip(text, &index)
        guard index < text.count || count > 0 else { return Stop(index, .empty) }

        while true {
            // For a key and its value.
            if entries.count &- count < 2 { return Stop(index, .noRoom) }
            if isObject {
                guard byte == JSONGrammar.quote else { return Stop(index, .key) }
                let key = StringToken(text, at: index)
                if key.end.fault != .none { return Stop(key.end.index, key.end.fault) }
                if !key.isASCII {
                    let object = entries[open]
                    entries[open] = IndexEntry(.irregularObject, start: object.start, length: object.length)
                }
                entries[count] = key.entry(at: index)
                count &+= 1
                index = key.end.index
                guard skip(text, &index) == JSONGrammar.colon else { return Stop(index, .colon) }
                index &+= 1
                byte = skip(text, &index)
            }

            switch byte {
            case JSONGrammar.openBrace, JSONGrammar.openBracket:
                isObject = byte == JSONGrammar.openBrace
                depth &+= 1
                if depth > maximumDepth { return Stop(index, .depth) }
                // While a container is open, its length stores the index of the container around it.
                entries[count] = IndexEntry(isObject ? .object : .array, start: index, length: open)
                count &+= 1
                open = count &- 1
                index &+= 1
                byte = skip(text, &index)
                guard byte == (isObject ? JSONGrammar.closeBrace : JSONGrammar.closeBracket) else { continue }
            default:
                guard let (entry, end) = scalar(text, byte, at: index) else { return Stop(index, .value) }
                if end.fault != .none { return Stop(end.index, end.fault) }
                entries[count] = entry
                count &+= 1
                index = end.index
            }

            // Closes the containers that end after the value.
            while true {
                byte = skip(text, &index)
                if open == none { return index == text.count ? Stop(index) : Stop(index, .end) }
                if byte == JSONGrammar.comma {
                    index &+= 1
                    byte = skip(text, &index)
                    break
                }
                guard byte == (isObject ? JSONGrammar.closeBrace : JSONGrammar.closeBracket) else {
                    return Stop(index, isObject ? .memberEnd : .elementEnd)
                }
                let container = entries[open]
                entries[open] = IndexEntry(container.kind, start: container.start, length: count &- open)
                open = container.length
                isObject = open != none && entries[open].isObject
                depth &-= 1
                index &+= 1
            }
        }
    }
}

/// A key or value in a text's index.
///
/// Entries have the order of the tokens, so a container comes before its contents. A container's length counts entries,
/// including its own. Any other length counts bytes.
struct IndexEntry {
    enum Kind: UInt8 {
        case null, `false`, `true`
        /// Digits, possibly with a minus sign.
        case integer
        case number
        case string
        /// With escapes.
        case escapedString
        case array
        case object
        /// With a key that has an escape or isn't ASCII.
        case irregularObject
    }

    private let bits: UInt64

    /// The maximum start and length of an entry, and the maximum length of a text.
    static let limit = 1 << 30 - 1

    @inline(__always) init(_ kind: Kind, start: Int, length: Int) {
        bits = Self.head(kind, length: length) &<< 30 | UInt64(truncatingIfNeeded: start)
    }

    @inline(__always) static func head(_ kind: Kind, length: Int) -> UInt64 {
        UInt64(kind.rawValue) &<< 30 | UInt64(truncatingIfNeeded: length)
    }

    @inline(__always) var head: UInt64 { bits &>> 30 }
    @inline(__always) var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: bits &>> 60)) ?? .null }
    /// A number's first byte, or the byte after a string's opening quote.
    @inline(__always) var start: Int { Int(truncatingIfNeeded: bits & 0x3FFF_FFFF) }
    @inline(__always) var length: Int { Int(truncatingIfNeeded: bits &>> 30 & 0x3FFF_FFFF) }

    @inline(__always) func isKind(_ kind: Kind) -> Bool { bits &>> 60 == UInt64(kind.rawValue) }
    @inline(__always) var isContainer: Bool { bits &>> 60 >= UInt64(Kind.array.rawValue) }
    @inline(__always) var isObject: Bool { bits &>> 60 >= UInt64(Kind.object.rawValue) }
    @inline(__always) var span: Int { isContainer ? length : 1 }

    /// As in the messages of `JSONDecoder`.
    var name: String {
        switch kind {
        case .null: "null"
        case .false, .true: "bool"
        case .integer, .number: "number"
        case .string, .escapedString: "a string"
        case .array: "an array"
        case .object, .irregularObject: "a dictionary"
        }
    }
}
