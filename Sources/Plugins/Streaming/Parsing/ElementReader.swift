import ErrandEssentials

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
