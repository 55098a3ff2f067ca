public import Errand
import ErrandEssentials

/// A document as a stream: elements that begin and end, and text, as they arrive, in constant memory.
///
/// ```swift
/// let export = try await agent.send(Call<XMLEvents>(.get, "export.xml")).value
/// for try await event in export {
///     if case .start(let name, let attributes) = event { print(name, attributes.count) }
/// }
/// ```
///
/// It pulls: a slow reader slows down the sender. Leaving the loop cancels the transfer. It has one reader, like the
/// body.
///
/// Throws ``XMLError``, and `ErrandError` for a failed transfer, each after the events before it.
public struct XMLEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = XMLEvent
    /// An error of the transfer or of the document.
    public typealias Failure = any Error

    private let body: HTTPBody
    private let charset: String?
    private let limits: XMLLimits

    /// Reads a body as XML.
    ///
    /// - Parameters:
    ///   - body: the bytes of the document.
    ///   - charset: the charset of a header; it follows a byte order mark and precedes the XML declaration. Nil by
    ///     default.
    ///   - limits: the limits of the document; ``XMLLimits/maximumNodes`` does not apply.
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
        /// Nil at the end of the document.
        private var parser: DocumentParser?
        private var events: [XMLEvent] = []
        private var position = 0
        /// Thrown after the events.
        private var failure: XMLError?
        /// The position at which the parsing ended.
        private var endLocation = XMLLocation()

        /// The position behind the bytes that were parsed last. Computed when it is needed: the bytes of an incomplete
        /// construct are counted anew each time.
        var location: XMLLocation { parser?.location ?? endLocation }

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
            if piece != nil, failure == nil { self.parser = parser } else { endLocation = parser.location }
        }

        /// Parses off the reader's actor. Nil is the end of the document.
        @concurrent private static func parse(
            _ piece: Data?, _ parser: inout DocumentParser
        ) async -> ([XMLEvent], XMLError?) {
            var failure: XMLError?
            do throws(XMLError) {
                if let piece { try parser.read(piece) } else { try parser.finish() }
            } catch { failure = error }
            return (parser.takeEvents(), failure)
        }

        /// Ends the reading, for example after an error of its reader.
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
