import ErrandEssentials
import ErrandJSONSyntax
import ErrandSupport

/// Finds the lines of a stream. Tests each byte only once for each kind of line ending.
struct LineScanner: ~Copyable {
    enum Ends: Sendable {
        /// LF, CR LF and CR end a line.
        case any
        /// Only LF ends a line. A CR before it is part of the line.
        case lineFeed
    }

    private(set) var window = ByteWindow()
    private let ends: Ends
    private let limit: Int
    /// The position of the next LF or CR, or the position up to which the window contains neither.
    private var lineFeed = Mark()
    private var carriageReturn = Mark()
    private var skipsLineFeed = false
    private var needsByteOrderMarkCheck = true
    private var isFinished = false
    private(set) var lineCount = 0
    /// The position in the stream where the current line starts.
    private(set) var lineStart: Int64 = 0

    private struct Mark {
        var position = 0
        var isFound = false

        mutating func consume(_ size: Int) {
            if position >= size { position -= size } else { (position, isFound) = (0, false) }
        }

        @inline(__always)
        mutating func find(_ byte: UInt8, in window: borrowing ByteWindow) -> Int? {
            if !isFound {
                let found = window.storage.span.firstIndex(of: byte, from: window.start + position)
                (position, isFound) = (found.map { $0 - window.start } ?? window.count, found != nil)
            }
            return isFound ? position : nil
        }
    }

    init(_ ends: Ends, limit: Int) { (self.ends, self.limit) = (ends, max(1, limit)) }

    mutating func push(_ chunk: Data) { window.append(chunk) }

    mutating func finish() { isFinished = true }

    var offset: Int64 { window.offset }

    /// Returns the range of the next line, without its ending. The range is valid until the next `push`. Use `rest()`
    /// for text after the last line ending.
    mutating func next() throws -> Range<Int>? {
        guard isReady() else { return nil }
        let feed = lineFeed.find(0x0A, in: window)
        if ends == .any {
            if let found = carriageReturn.find(0x0D, in: window), found < feed ?? window.count {
                return try line(found, marks: endMarks(after: found))
            }
        }
        guard let end = feed else {
            if window.count > limit { throw tooLong() }
            return nil
        }
        return try line(end, marks: 1)
    }

    mutating func rest() throws -> Range<Int>? {
        guard isFinished, isReady(), window.count > 0 else { return nil }
        return try line(window.count, marks: 0)
    }

    private mutating func line(_ size: Int, marks: Int) throws -> Range<Int> {
        if size > limit { throw tooLong() }
        let start = window.start
        lineStart = window.offset
        consume(size + marks)
        lineCount += 1
        return start..<(start + size)
    }

    private mutating func endMarks(after end: Int) -> Int {
        if end + 1 < window.count { return window.storage[window.start + end + 1] == 0x0A ? 2 : 1 }
        // If the next byte is LF, it's part of this line's ending.
        skipsLineFeed = true
        return 1
    }

    private mutating func consume(_ size: Int) {
        window.consume(size)
        lineFeed.consume(size)
        carriageReturn.consume(size)
    }

    /// Skips a byte order mark, and an LF whose CR was in an earlier chunk.
    @inline(__always)
    private mutating func isReady() -> Bool {
        if !needsByteOrderMarkCheck, !skipsLineFeed { return true }
        return prepare()
    }

    private mutating func prepare() -> Bool {
        if needsByteOrderMarkCheck {
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            let isPrefix = zip(window.storage[window.start...], mark).allSatisfy { $0 == $1 }
            if isPrefix, window.count < 3, !isFinished { return false }
            needsByteOrderMarkCheck = false
            if isPrefix, window.count >= 3 { consume(3) }
        }
        if skipsLineFeed {
            guard let first = window.first else { return false }
            skipsLineFeed = false
            if first == 0x0A { consume(1) }
        }
        return true
    }

    private func tooLong() -> StreamingError {
        StreamingError(
            .elementTooLong, "a line is longer than the limit of \(limit) bytes", byte: window.offset,
            element: lineCount + 1)
    }
}

/// Finds the values of NDJSON or JSON Lines. Skips blank lines. The last line needs no ending.
final class JSONLineSplitter: ElementSplitter {
    private var lines: LineScanner

    init(limit: Int) {
        lines = LineScanner(.lineFeed, limit: limit)
    }

    override func push(_ chunk: Data) { lines.push(chunk) }
    override func finish() { lines.finish() }

    override func next() throws -> Found? {
        while let line = try lines.next() ?? lines.rest() {
            let storage = lines.window.storage
            let text = storage.span.extracting(line)
            let range = Self.trimmed(text)
            if range.isEmpty { continue }
            return Found(bytes: Data(copying: text.extracting(range)), byte: lines.lineStart, element: lines.lineCount)
        }
        return nil
    }

    /// Removes JSON's white space (RFC 8259, section 2) at both ends.
    private static func trimmed(_ text: Span<UInt8>) -> Range<Int> {
        var (first, end) = (0, text.count)
        while first < end, JSONGrammar.isSpace(text[first]) { first += 1 }
        while first < end, JSONGrammar.isSpace(text[end - 1]) { end -= 1 }
        return first..<end
    }
}

/// A window on the bytes of a stream that haven't been consumed yet.
///
/// The window moves bytes only to make room, so the total cost is linear in the number of bytes. The longest element
/// and the longest chunk limit the window's size.
struct ByteWindow {
    private(set) var storage: ContiguousArray<UInt8> = []
    private(set) var start = 0
    private(set) var offset: Int64 = 0
    /// The capacity in bytes that an empty window keeps.
    private static let keptCapacity = 1 << 20

    var count: Int { storage.count - start }
    var first: UInt8? { start < storage.count ? storage[start] : nil }

    func first(_ count: Int) -> Data { Data(copying: storage.span.extracting(start..<(start + count))) }

    /// Appends a chunk. Indices into `storage` aren't valid afterwards.
    mutating func append(_ chunk: Data) {
        if chunk.isEmpty { return }
        makeRoom(for: chunk.count)
        storage.append(contentsOf: chunk)
    }

    mutating func consume(_ size: Int) {
        start += size
        offset += Int64(size)
    }

    private mutating func makeRoom(for size: Int) {
        if start == storage.count {
            storage.removeAll(keepingCapacity: storage.capacity <= Self.keptCapacity || size > Self.keptCapacity)
            start = 0
        } else if storage.count + size > storage.capacity, count <= start {
            // Moves bytes only if this frees at least as many bytes, so moving costs little on average.
            storage.removeFirst(start)
            start = 0
        }
    }
}
