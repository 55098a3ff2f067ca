import ErrandJSONSyntax

/// Makes the index of a text in one pass, and checks the whole text on the way (RFC 8259).
struct IndexBuilder {
    /// How many arrays and objects may be open at once, as in `JSONDecoder`.
    static let maximumDepth = 512
    /// In the place of the container around one that is in none.
    private static let none = IndexEntry.limit

    private var entries: UnsafeMutablePointer<IndexEntry>
    private var capacity: Int

    private init(_ bytes: Int, _ buffer: IndexBuffer) {
        // Most texts have eight bytes or more for each entry.
        let wanted = bytes / 8 + 32
        guard buffer.capacity < wanted else {
            (entries, capacity) = (buffer.entries, buffer.capacity)
            return
        }
        buffer.entries.deallocate()
        (entries, capacity) = (.allocate(capacity: wanted), wanted)
    }

    /// Writes the entries of a text into a buffer, which becomes larger where it has to.
    static func index(
        _ start: UnsafePointer<UInt8>, _ count: Int, into buffer: inout IndexBuffer
    ) throws(JSONDecodingError) {
        guard count <= IndexEntry.limit else {
            throw JSONDecodingError(.tooLarge, "at most 1 GiB of text expected", byte: IndexEntry.limit)
        }
        var builder = IndexBuilder(count, buffer)
        let stop = builder.run(start, start + count)
        buffer = IndexBuffer(entries: builder.entries, capacity: builder.capacity)
        guard let problem = stop.problem else { return }
        switch problem {
        case .fault(.empty): throw empty
        case .fault(let fault):
            let found = fault.found(at: stop.at, start + count)
            throw JSONDecodingError(
                .malformedJSON, "\(fault.expected) expected, found \(found)", byte: stop.at - start)
        case .depth:
            throw JSONDecodingError(
                .tooDeep, "at most \(maximumDepth) open arrays and objects expected", byte: stop.at - start)
        }
    }

    /// The error of a text without a value.
    static var empty: JSONDecodingError {
        JSONDecodingError(.malformedJSON, "a value expected, found an empty text", byte: 0)
    }

    private enum Problem {
        case fault(JSONFault)
        case depth
    }

    private struct Stop {
        let at: UnsafePointer<UInt8>
        var problem: Problem?

        @inline(__always) init(_ at: UnsafePointer<UInt8>, _ problem: Problem? = nil) {
            (self.at, self.problem) = (at, problem)
        }

        @inline(__always) init(_ at: UnsafePointer<UInt8>, _ fault: JSONFault) { self.init(at, .fault(fault)) }
    }

    /// A string from its opening quote.
    private struct StringToken {
        let scan: JSONScan
        var kind = IndexEntry.Kind.string
        var isASCII = true

        @inline(__always) init(_ quote: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) {
            let plain = JSONGrammar.asciiEnd(quote + 1, end)
            if plain < end, plain.pointee == JSONGrammar.quote {
                scan = JSONScan(end: plain + 1)
            } else {
                scan = JSONGrammar.string(plain, end)
                isASCII = false
                if scan.fault == .none, JSONText(start: plain, end: scan.end - 1).hasEscapes { kind = .escapedString }
            }
        }

        @inline(__always) func entry(_ quote: UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>) -> IndexEntry {
            IndexEntry(kind, start: quote + 1 - start, length: scan.end - quote &- 2)
        }
    }

    /// Goes on to the next byte that is not white space, and returns it; zero at the end.
    @inline(__always)
    private static func skip(_ p: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UInt8 {
        if p < end, p.pointee > 0x20 { return p.pointee }
        p = JSONGrammar.skipSpace(p, end)
        return p < end ? p.pointee : 0
    }

    private mutating func run(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Stop {
        var p = start
        var byte = Self.skip(&p, end)
        guard p < end else { return Stop(p, .empty) }
        // The compiler keeps these in registers.
        var (entries, capacity, count) = (entries, capacity, 0)
        defer { (self.entries, self.capacity) = (entries, capacity) }
        var (open, isObject, depth) = (Self.none, false, 0)

        while true {
            // A member has two entries.
            if capacity &- count < 2 { (entries, capacity) = Self.grown(entries, capacity) }
            if isObject {
                guard byte == JSONGrammar.quote else { return Stop(p, .key) }
                let key = StringToken(p, end)
                if key.scan.fault != .none { return Stop(key.scan.end, key.scan.fault) }
                if !key.isASCII {
                    let object = entries[open]
                    entries[open] = IndexEntry(.irregularObject, start: object.start, length: object.length)
                }
                entries[count] = key.entry(p, start)
                count &+= 1
                p = key.scan.end
                guard Self.skip(&p, end) == JSONGrammar.colon else { return Stop(p, .colon) }
                p += 1
                byte = Self.skip(&p, end)
            }

            switch byte {
            case JSONGrammar.quote:
                let string = StringToken(p, end)
                if string.scan.fault != .none { return Stop(string.scan.end, string.scan.fault) }
                entries[count] = string.entry(p, start)
                count &+= 1
                p = string.scan.end
            case 0x2D, 0x30...0x39:
                let (scan, isPlain) = JSONGrammar.number(p, end)
                if scan.fault != .none { return Stop(scan.end, scan.fault) }
                entries[count] = IndexEntry(isPlain ? .integer : .number, start: p - start, length: scan.end - p)
                count &+= 1
                p = scan.end
            case JSONGrammar.openBrace, JSONGrammar.openBracket:
                isObject = byte == JSONGrammar.openBrace
                depth &+= 1
                if depth > Self.maximumDepth { return Stop(p, .depth) }
                // Until it is closed, an entry has the container around it for its length.
                entries[count] = IndexEntry(isObject ? .object : .array, start: p - start, length: open)
                open = count
                count &+= 1
                p += 1
                byte = Self.skip(&p, end)
                guard byte == (isObject ? JSONGrammar.closeBrace : JSONGrammar.closeBracket) else { continue }
            default:
                let kind: IndexEntry.Kind
                switch byte {
                case 0x74: kind = .true
                case 0x66: kind = .false
                case 0x6E: kind = .null
                default: return Stop(p, .value)
                }
                let scan = JSONGrammar.literal(p, end)
                if scan.fault != .none { return Stop(scan.end, scan.fault) }
                entries[count] = IndexEntry(kind, start: p - start, length: scan.end - p)
                count &+= 1
                p = scan.end
            }

            // Behind a value: the containers that end here, then the next element.
            while true {
                byte = Self.skip(&p, end)
                if open == Self.none { return p == end ? Stop(p) : Stop(p, .end) }
                if byte == JSONGrammar.comma {
                    p += 1
                    byte = Self.skip(&p, end)
                    break
                }
                guard byte == (isObject ? JSONGrammar.closeBrace : JSONGrammar.closeBracket) else {
                    return Stop(p, isObject ? .memberEnd : .elementEnd)
                }
                let container = entries[open]
                entries[open] = IndexEntry(container.kind, start: container.start, length: count &- open)
                open = container.length
                isObject = open != Self.none && entries[open].isObject
                depth &-= 1
                p += 1
            }
        }
    }

    @inline(never) private static func grown(
        _ entries: UnsafeMutablePointer<IndexEntry>, _ capacity: Int
    ) -> (UnsafeMutablePointer<IndexEntry>, Int) {
        let larger = UnsafeMutablePointer<IndexEntry>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: entries, count: capacity)
        entries.deallocate()
        return (larger, capacity * 2)
    }
}
