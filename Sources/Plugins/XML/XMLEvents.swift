public import Errand
import ErrandEssentials

/// A document as a stream: elements that begin and end, and text, as they come, in memory that does not grow.
///
/// ```swift
/// let export = try await agent.send(Call<XMLEvents>(.get, "export.xml")).value
/// for try await event in export {
///     if case .start(let name, let attributes) = event { print(name, attributes.count) }
/// }
/// ```
///
/// It pulls: a slow reader slows down the sender. Leaving the loop cancels the transfer. It has one reader, as the body has.
/// Each reader has a thread, since Foundation's parser blocks while it waits for bytes.
///
/// Throws ``XMLError``, and `ErrandError` for what fails on the wire, each behind the events before it.
public struct XMLEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = XMLEvent
    /// What fails on the wire or in the document.
    public typealias Failure = any Error

    private let body: HTTPBody
    private let charset: String?
    private let limits: XMLLimits

    /// Reads a body as XML.
    ///
    /// - Parameters:
    ///   - body: the bytes of the document.
    ///   - charset: what a header said; a byte order mark counts more, and the XML declaration less. Nil by default.
    ///   - limits: what is accepted; ``XMLLimits/maximumNodes`` does not count.
    public init(_ body: HTTPBody, charset: String? = nil, limits: XMLLimits = .streaming) {
        (self.body, self.charset, self.limits) = (body, charset, limits)
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(body, ParserThread(charset: charset, limits: limits)) }

    /// Pulls the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let hold: Hold
        private var body: HTTPBody.Iterator
        private var pieces = DataPieces(Data())
        private var turn = ParserThread.Turn()
        private var position = 0
        private var isOver = false

        fileprivate init(_ body: HTTPBody, _ thread: ParserThread) {
            hold = Hold(body: body, thread: thread)
            self.body = body.makeAsyncIterator()
        }

        /// Behind the bytes that were parsed last.
        var place: (line: Int, column: Int) { (turn.line, turn.column) }

        /// The next event; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> XMLEvent? {
            while position == turn.events.count {
                if isOver { return nil }
                if turn.isOver {
                    isOver = true
                    if let error = turn.error { throw error }
                    return nil
                }
                do { try await parse(isolation: actor) } catch {
                    end()
                    throw error
                }
            }
            defer { position += 1 }
            return turn.events[position]
        }

        private mutating func parse(isolation actor: isolated (any Actor)?) async throws {
            var piece = pieces.next()
            if piece == nil, let chunk = try await body.next(isolation: actor) {
                pieces = DataPieces(chunk)
                piece = pieces.next() ?? Data()
            }
            turn = await hold.thread.parse(piece)
            position = 0
        }

        /// Ends the reading, such as after an error of its reader.
        mutating func end() {
            isOver = true
            (turn.events, position) = ([], 0)
            hold.cancel()
        }
    }

    /// Ends the thread and the transfer with the reader.
    private final class Hold: Sendable {
        let body: HTTPBody
        let thread: ParserThread

        init(body: HTTPBody, thread: ParserThread) { (self.body, self.thread) = (body, thread) }

        func cancel() {
            thread.cancel()
            body.cancel()
        }

        deinit { cancel() }
    }
}
