public import Errand
import ErrandEssentials

/// A document as a stream of events for elements and text. Memory use doesn't depend on the document's length.
///
/// ```swift
/// let export = try await agent.send(Call<XMLEvents>(.get, "export.xml")).value
/// for try await event in export {
///     if case .start(let name, let attributes) = event { print(name, attributes.count) }
/// }
/// ```
///
/// The stream has backpressure: a slow reader slows down the sender. Leaving the loop cancels the transfer. Only one
/// reader can read the stream.
///
/// Throws ``XMLError``, or `ErrandError` if the transfer fails. Events before the failure are delivered first.
public struct XMLEvents: AsyncSequence, Sendable {
    /// An event of the document.
    public typealias Element = XMLEvent
    /// ``XMLError``, or `ErrandError` if the transfer fails.
    public typealias Failure = any Error

    private let body: HTTPBody
    private let charset: String?
    private let limits: XMLLimits

    /// Creates a stream of the XML events in a body.
    ///
    /// - Parameters:
    ///   - charset: the charset from a header. It takes precedence over the XML declaration, but not over a byte order
    ///     mark. Defaults to `nil`.
    ///   - limits: the limits for the document. ``XMLLimits/maximumNodes`` doesn't apply.
    public init(_ body: HTTPBody, charset: String? = nil, limits: XMLLimits = .streaming) {
        (self.body, self.charset, self.limits) = (body, charset, limits)
    }

    /// Creates an iterator over the events. The stream can have only one reader.
    public func makeAsyncIterator() -> Iterator {
        Iterator(body, DocumentParser(charset: charset, limits: limits))
    }

    /// Reads one event after another, on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol {
        private let hold: Hold
        private var body: HTTPBody.Iterator
        private var pieces = DataPieces(Data())
        /// `nil` at the end of the document.
        private var parser: DocumentParser?
        private var events: [XMLEvent] = []
        private var position = 0
        /// Thrown after the remaining events.
        private var failure: XMLError?
        private var endLocation = XMLLocation()

        /// The parser's position. It's computed only when needed, because computing it counts the bytes of an
        /// incomplete construct again.
        var location: XMLLocation { parser?.location ?? endLocation }

        fileprivate init(_ body: HTTPBody, _ parser: DocumentParser) {
            hold = Hold(body)
            self.body = body.makeAsyncIterator()
            self.parser = parser
        }

        /// Returns the next event, or `nil` at the end.
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

        /// Runs off the reader's actor. `nil` ends the document.
        @concurrent private static func parse(
            _ piece: Data?, _ parser: inout DocumentParser
        ) async -> ([XMLEvent], XMLError?) {
            var failure: XMLError?
            do throws(XMLError) {
                if let piece { try parser.read(piece) } else { try parser.finish() }
            } catch { failure = error }
            return (parser.takeEvents(), failure)
        }

        mutating func end() {
            (events, position, failure, parser) = ([], 0, nil, nil)
            hold.body.cancel()
        }
    }

    private final class Hold: Sendable {
        let body: HTTPBody

        init(_ body: HTTPBody) { self.body = body }

        deinit { body.cancel() }
    }
}

/// An event in a stream of XML; see ``XMLEvents``. Comments and processing instructions aren't delivered.
public enum XMLEvent: Sendable, Hashable {
    /// The start of an element, with its name and attributes. Namespace declarations aren't attributes.
    case start(XMLName, [XMLName: String])
    /// Text with references resolved. CDATA sections are text too. Long text is delivered in several events.
    case text(String)
    /// The end of an element.
    case end(XMLName)
}

extension XMLEvents {
    /// Returns the elements with a local name, each as a tree as soon as it's complete.
    ///
    /// Use it to read a document of any length in little memory:
    ///
    /// ```swift
    /// let export = try await agent.send(Call<XMLEvents>(.get, "export.xml")).value
    /// for try await row in export.elements("row") { print(row.attribute("id") ?? "") }
    /// ```
    ///
    /// An element within an element of the same name is part of that element's tree.
    ///
    /// - Parameters:
    ///   - local: the name without a prefix, in any namespace.
    ///   - limits: the limits for each element. Depth counts from the element.
    public func elements(_ local: String, limits: XMLLimits = .standard) -> XMLElements {
        XMLElements(self, limits) { $0.local == local }
    }

    /// Returns the elements with a name in its namespace. See ``elements(_:limits:)-(String,_)``.
    public func elements(_ name: XMLName, limits: XMLLimits = .standard) -> XMLElements {
        XMLElements(self, limits) { $0 == name }
    }
}

/// The elements in a stream of XML, each as a tree. See ``XMLEvents/elements(_:limits:)-(String,_)``.
public struct XMLElements: AsyncSequence, Sendable {
    /// An XML element with all its content.
    public typealias Element = XMLTree
    /// ``XMLError``, or `ErrandError` if the transfer fails.
    public typealias Failure = any Error

    private let events: XMLEvents
    private let limits: XMLLimits
    private let isWanted: @Sendable (XMLName) -> Bool

    init(_ events: XMLEvents, _ limits: XMLLimits, isWanted: @escaping @Sendable (XMLName) -> Bool) {
        (self.events, self.limits, self.isWanted) = (events, limits.forTree, isWanted)
    }

    /// Creates an iterator over the elements. The stream can have only one reader.
    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator(), builder: TreeBuilder(limits), isWanted: isWanted)
    }

    /// Reads one element after another, on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: XMLEvents.Iterator
        fileprivate var builder: TreeBuilder
        fileprivate let isWanted: @Sendable (XMLName) -> Bool

        /// Returns the next element as a tree, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> XMLTree? {
            while let event = try await events.next(isolation: actor) {
                if !builder.isWithinElement {
                    guard case .start(let name, _) = event, isWanted(name) else { continue }
                }
                do { try builder.add(event) } catch {
                    let location = events.location
                    events.end()
                    throw XMLError(error.code, error.message, at: location)
                }
                if let element = builder.takeFinished().first { return element }
            }
            return nil
        }
    }
}
