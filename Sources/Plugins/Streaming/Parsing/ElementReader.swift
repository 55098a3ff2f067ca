import Errand
import ErrandEssentials
import ErrandSupport

/// Makes elements from bytes, at any split into chunks: no I/O, no waiting. An element costs its reader one call, so
/// `next` can be called from other modules without an indirection.
@usableFromInline class ElementReader<Element> {
    /// The session that counts the elements, if there is one.
    final var session: StreamSession?
    /// Whether the stream was cancelled from elsewhere: bytes that were received are not read any more then.
    final var isCancelled: Bool { session?.isCancelled ?? false }

    /// Adds bytes, once `next` has returned nil.
    func push(_ chunk: Data) {}
    /// No more bytes come.
    func finish() {}
    /// The next complete element; nil if more bytes are needed, and at the end.
    @usableFromInline func next() throws -> Element? { nil }
}

/// Lines; not generic, which makes them twice as fast.
final class LineReader: ElementReader<String> {
    private var parser: LineParser

    /// - Parameter charset: the label of the charset; nil for UTF-8.
    init(limit: Int, charset: String? = nil) { parser = LineParser(limit: limit, charset: charset) }

    override func push(_ chunk: Data) { parser.push(chunk) }
    override func finish() { parser.finish() }
    override func next() throws -> String? {
        guard !isCancelled, let line = try parser.next() else { return nil }
        session?.countElement()
        return line
    }
}

/// Events of one body; not generic, as ``LineReader``.
final class EventBodyReader: ElementReader<ServerSentEvent> {
    private var parser: EventParser

    init(limit: Int) { parser = EventParser(limit: limit) }

    override func push(_ chunk: Data) { parser.push(chunk) }
    override func finish() { parser.finish() }
    override func next() throws -> ServerSentEvent? { try parser.next() }
}

/// Values that are decoded.
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

/// The bytes of values.
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

/// The lines of a text; the last one needs no end. Invalid UTF-8 becomes U+FFFD; in another charset, a line that is not
/// valid throws.
struct LineParser: ~Copyable {
    private var lines: LineScanner
    /// Nil for UTF-8.
    private let charset: Charset?
    /// The label of a charset in which lines cannot be read.
    private let unreadable: String?

    /// - Parameter label: the label of the charset; nil for UTF-8.
    init(limit: Int, charset label: String? = nil) {
        lines = LineScanner(.any, limit: limit)
        let charset = Charset(label: label ?? "utf-8")
        // A line end is no byte of its own in UTF-16.
        unreadable = charset.map { $0.name.hasPrefix("utf-16") } ?? true ? label : nil
        self.charset = charset == .utf8 ? nil : charset
    }

    mutating func push(_ chunk: Data) { lines.push(chunk) }
    mutating func finish() { lines.finish() }

    mutating func next() throws -> String? {
        guard let line = try lines.next() ?? lines.rest() else { return nil }
        if charset == nil, unreadable == nil { return String(decoding: lines.window.storage.span.extracting(line)) }
        if let unreadable {
            throw failure("lines cannot be read in the charset \(unreadable.prefix(40).debugDescription)")
        }
        guard
            let text = charset?.decode(
                Data(copying: lines.window.storage.span.extracting(line)), ignoresByteOrderMark: true)
        else {
            throw failure("the line is not valid \(charset?.name ?? "utf-8")")
        }
        return text
    }

    private func failure(_ message: String) -> StreamingError {
        StreamingError(.decodingFailed, message, byte: lines.lineStart, element: lines.lineCount)
    }
}

/// Finds the bytes of each element, at any split into chunks; a decoder interprets them.
class ElementSplitter {
    /// The bytes of one element, and its position.
    struct Found {
        let bytes: Data
        let byte: Int64
        let element: Int
    }

    /// Adds bytes, once `next` has returned nil.
    func push(_ chunk: Data) {}
    /// No more bytes come.
    func finish() {}
    /// The next complete element; nil if more bytes are needed, and at the end.
    func next() throws -> Found? { nil }
}

/// Decodes the bytes of one element to a value.
struct ElementDecoding<Value: Decodable & Sendable>: Sendable {
    private let decode: @Sendable (Data) throws -> Value

    /// Uses the decoder of the request that a response belongs to, or of its agent.
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

    /// Uses a decoder of the caller's choice.
    init(_ decoder: some BodyDecoder) {
        decode = { try decoder.decode(Value.self, from: $0) }
    }

    /// The value. Throws `decodingFailed`, with the position.
    func value(_ found: ElementSplitter.Found) throws -> Value {
        do { return try decode(found.bytes) } catch {
            throw StreamingError(
                .decodingFailed, "the element is no \(Value.self): \(error.briefDescription)", byte: found.byte,
                element: found.element, underlying: error)
        }
    }

    /// A reader of elements that a splitter finds; of their bytes as they are, if `Value` is `Data`.
    func reader(_ splitter: ElementSplitter) -> ElementReader<Value> {
        DataReader(splitter) as? ElementReader<Value> ?? DecodingReader(splitter, self)
    }
}
