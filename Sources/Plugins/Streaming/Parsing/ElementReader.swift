import Errand
import ErrandEssentials
import ErrandSupport

/// Turns a body's chunks into elements. Code in other modules can call `next` directly, so reading an element costs a
/// single call.
@usableFromInline class ElementReader<Element> {
    final var session: StreamSession?
    final var isCancelled: Bool { session?.isCancelled ?? false }

    func push(_ chunk: Data) {}
    func finish() {}
    @usableFromInline func next() throws -> Element? { nil }
}

/// A reader of lines. It isn't generic, because a generic class takes twice as long.
final class LineReader: ElementReader<String> {
    private var parser: LineParser

    init(limit: Int, charset: String? = nil) { parser = LineParser(limit: limit, charset: charset) }

    override func push(_ chunk: Data) { parser.push(chunk) }
    override func finish() { parser.finish() }
    override func next() throws -> String? {
        guard !isCancelled, let line = try parser.next() else { return nil }
        session?.countElement()
        return line
    }
}

/// A reader of events. It isn't generic for the same reason as ``LineReader``.
final class EventBodyReader: ElementReader<ServerSentEvent> {
    private var parser: EventParser

    init(limit: Int) { parser = EventParser(limit: limit) }

    override func push(_ chunk: Data) { parser.push(chunk) }
    override func finish() { parser.finish() }
    override func next() throws -> ServerSentEvent? { try parser.next() }
}

final class DecodingReader<Value: Decodable & Sendable>: ElementReader<Value> {
    private let splitter: ElementSplitter
    private let decoding: ElementDecoding<Value>

    init(_ splitter: ElementSplitter, _ decoding: ElementDecoding<Value>) {
        (self.splitter, self.decoding) = (splitter, decoding)
    }

    override func push(_ chunk: Data) { splitter.push(chunk) }
    override func finish() { splitter.finish() }
    override func next() throws -> Value? {
        guard !isCancelled, let found = try splitter.next() else { return nil }
        let value = try decoding.value(found)
        session?.countElement()
        return value
    }
}

final class DataReader: ElementReader<Data> {
    private let splitter: ElementSplitter

    init(_ splitter: ElementSplitter) { self.splitter = splitter }

    override func push(_ chunk: Data) { splitter.push(chunk) }
    override func finish() { splitter.finish() }
    override func next() throws -> Data? {
        guard !isCancelled, let found = try splitter.next() else { return nil }
        session?.countElement()
        return found.bytes
    }
}

/// Decodes lines. The last line doesn't need an ending. In UTF-8, invalid bytes become U+FFFD. In other charsets, an
/// invalid line throws. If the charset is unknown, lines are decoded as UTF-8, and an invalid line throws.
struct LineParser: ~Copyable {
    private var lines: LineScanner
    private let charset: Charset?
    private let unreadable: String?
    /// Whether the charset's label is unknown. Text that is valid UTF-8 is read anyway, as browsers do.
    private let isUnknown: Bool
    private var shift = ShiftState()

    init(limit: Int, charset label: String? = nil) {
        lines = LineScanner(.any, limit: limit)
        let charset = Charset(label: label ?? "utf-8")
        isUnknown = charset == nil
        // UTF-16 can't be read, because its line endings aren't single bytes.
        unreadable = charset.map { $0.name.hasPrefix("utf-16") } ?? true ? label : nil
        self.charset = charset == .utf8 ? nil : charset
    }

    mutating func push(_ chunk: Data) { lines.push(chunk) }
    mutating func finish() { lines.finish() }

    mutating func next() throws -> String? {
        guard let line = try lines.next() ?? lines.rest() else { return nil }
        if charset == nil, unreadable == nil { return String(decoding: lines.window.storage.span.extracting(line)) }
        if isUnknown {
            let bytes = Data(copying: lines.window.storage.span.extracting(line))
            // A zero byte suggests a charset with wider units, such as UTF-32.
            if !bytes.contains(0), let text = Charset.utf8.decode(bytes, ignoresByteOrderMark: true) { return text }
        }
        if let unreadable {
            throw failure("lines cannot be read in the charset \(unreadable.prefix(40).debugDescription)")
        }
        var bytes = Data(copying: lines.window.storage.span.extracting(line))
        let isComplete = charset?.name != "iso-2022-jp" || shift.continueLine(&bytes)
        guard isComplete, let text = charset?.decode(bytes, ignoresByteOrderMark: true) else {
            throw failure("the line is not valid \(charset?.name ?? "utf-8")")
        }
        return text
    }

    private func failure(_ message: String) -> StreamingError {
        StreamingError(.decodingFailed, message, byte: lines.lineStart, element: lines.lineCount)
    }
}

/// The state of ISO-2022-JP at the end of a line. An escape sequence also applies to the following lines.
private struct ShiftState {
    private static let escape: UInt8 = 0x1B
    private static let roman: [UInt8] = [escape, 0x28, 0x4A]
    private static let ascii: [UInt8] = [escape, 0x28, 0x42]
    private var sequence = Self.ascii

    /// Adds the escape sequence of an earlier line to a line. Returns `false` if the line ends within characters of two
    /// bytes, in which a line can't end (WHATWG Encoding, section 12.2.1).
    mutating func continueLine(_ line: inout Data) -> Bool {
        let last = line.lastIndex(of: Self.escape).map { Array(line[$0...].prefix(3)) }
        // Two escape sequences in a row are an error.
        if sequence != Self.ascii, line.first != Self.escape { line = Data(sequence) + line }
        if let last { sequence = last }
        return sequence == Self.ascii || sequence == Self.roman
    }
}

/// Finds the bytes of each element. A decoder then turns them into a value.
class ElementSplitter {
    struct Found {
        let bytes: Data
        let byte: Int64
        let element: Int
    }

    func push(_ chunk: Data) {}
    func finish() {}
    func next() throws -> Found? { nil }
}

struct ElementDecoding<Value: Decodable & Sendable>: Sendable {
    private let decode: @Sendable (Data) throws -> Value

    init(_ response: HTTPResponse) {
        var head = response
        head.body = .empty
        decode = { [head] data in
            var element = head
            element.body = HTTPBody(data)
            do { return try element.decoded(as: Value.self) } catch let error as ErrandError {
                throw error.underlying ?? error
            }
        }
    }

    init(_ decoder: some BodyDecoder) {
        decode = { try decoder.decode(Value.self, from: $0) }
    }

    func value(_ found: ElementSplitter.Found) throws -> Value {
        do { return try decode(found.bytes) } catch {
            throw StreamingError(
                .decodingFailed, "the element can't be decoded as \(Value.self): \(error.briefDescription)",
                byte: found.byte,
                element: found.element, underlying: error)
        }
    }

    func reader(_ splitter: ElementSplitter) -> ElementReader<Value> {
        DataReader(splitter) as? ElementReader<Value> ?? DecodingReader(splitter, self)
    }
}
