import ErrandEssentials

/// Makes elements of bytes, whatever the pieces in which they come: no I/O, no waiting.
protocol StreamParser {
    associatedtype Element
    /// Adds bytes, once `next` has returned nil.
    mutating func push(_ chunk: Data)
    /// No more bytes come.
    mutating func finish()
    /// The next complete element; nil if more bytes are needed, and at the end.
    mutating func next() throws -> Element?
}

/// A parser whose type is hidden from those who only need its elements.
class ElementReader<Element> {
    func push(_ chunk: Data) {}
    func finish() {}
    func next() throws -> Element? { nil }
}

final class ParserReader<Parser: StreamParser>: ElementReader<Parser.Element> {
    private var parser: Parser

    init(_ parser: Parser) { self.parser = parser }

    override func push(_ chunk: Data) { parser.push(chunk) }
    override func finish() { parser.finish() }
    override func next() throws -> Parser.Element? { try parser.next() }
}
