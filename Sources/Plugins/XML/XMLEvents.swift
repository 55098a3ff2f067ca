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
    public func makeAsyncIterator() -> Iterator {
        Iterator(body, DocumentParser(charset: charset, limits: limits))
    }

    /// Pulls the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let hold: Hold
        private var body: HTTPBody.Iterator
        private var pieces = DataPieces(Data())
        /// Nil at the end.
        private var parser: DocumentParser?
        private var events: [XMLEvent] = []
        private var position = 0
        /// Thrown behind the events.
        private var failure: XMLError?
        /// Behind the bytes that were parsed last.
        private(set) var place = XMLPlace()

        fileprivate init(_ body: HTTPBody, _ parser: DocumentParser) {
            hold = Hold(body)
            self.body = body.makeAsyncIterator()
            self.parser = parser
        }

        /// The next event; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> XMLEvent? {
            while position == events.count {
                if let error = failure {
                    end()
                    throw error
                }
                guard parser != nil else { return nil }
                do { try await parse(isolation: actor) } catch {
                    end()
                    throw error
                }
            }
            defer { position += 1 }
            return events[position]
        }

        private mutating func parse(isolation actor: isolated (any Actor)?) async throws {
            var piece = pieces.next()
            if piece == nil, let chunk = try await body.next(isolation: actor) {
                pieces = DataPieces(chunk)
                piece = pieces.next() ?? Data()
            }
            guard var parser = parser.take() else { return }
            (events, failure) = await Self.parse(piece, &parser)
            position = 0
            place = parser.place
            if piece != nil, failure == nil { self.parser = parser }
        }

        /// Off the reader's actor. Nil is the end of the document.
        @concurrent private static func parse(
            _ piece: Data?, _ parser: inout DocumentParser
        ) async -> ([XMLEvent], XMLError?) {
            var failure: XMLError?
            do throws(XMLError) {
                if let piece { try parser.read(piece) } else { try parser.finish() }
            } catch { failure = error }
            return (parser.takeEvents(), failure)
        }

        /// Ends the reading, such as after an error of its reader.
        mutating func end() {
            (events, position, failure, parser) = ([], 0, nil, nil)
            hold.body.cancel()
        }
    }

    /// Ends the transfer with the reader.
    private final class Hold: Sendable {
        let body: HTTPBody

        init(_ body: HTTPBody) { self.body = body }

        deinit { body.cancel() }
    }
}
