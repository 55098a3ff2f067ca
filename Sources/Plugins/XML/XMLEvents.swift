public import Errand
import ErrandEssentials

/// Streams a document as events for elements and text, as they arrive and in constant memory.
///
/// ```swift
/// let export = try await agent.send(Call<XMLEvents>(.get, "export.xml")).value
/// for try await event in export {
///     if case .start(let name, let attributes) = event { print(name, attributes.count) }
/// }
/// ```
///
/// The stream has backpressure: a slow reader slows down the sender. Leaving the loop cancels the transfer. Like the
/// body, the stream supports only one reader.
///
/// Throws ``XMLError``, or `ErrandError` if the transfer fails, after delivering the events before the failure.
public struct XMLEvents: AsyncSequence, Sendable {
    /// The element of the sequence: an event of the document.
    public typealias Element = XMLEvent
    /// Reading throws ``XMLError``, or `ErrandError` if the transfer fails.
    public typealias Failure = any Error

    private let body: HTTPBody
    private let charset: String?
    private let limits: XMLLimits

    /// Reads a body as XML.
    ///
    /// - Parameters:
    ///   - body: The bytes of the document.
    ///   - charset: The charset from a header. A byte order mark overrides it, and it overrides the XML declaration.
    ///     Defaults to `nil`.
    ///   - limits: The limits for the document. ``XMLLimits/maximumNodes`` doesn't apply.
    public init(_ body: HTTPBody, charset: String? = nil, limits: XMLLimits = .streaming) {
        (self.body, self.charset, self.limits) = (body, charset, limits)
    }

    /// Creates an iterator over the events. The stream can have only one reader.
    public func makeAsyncIterator() -> Iterator {
        Iterator(body, DocumentParser(charset: charset, limits: limits))
    }

    /// Reads the events one at a time, on the caller's actor.
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
        /// The position at which parsing ended.
        private var endLocation = XMLLocation()

        /// The position after the last parsed bytes. Computed on demand, because each time it recounts the bytes of an
        /// incomplete construct.
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

        /// Parses off the reader's actor. Pass `nil` at the end of the document.
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

    /// Cancels the transfer when the reader is deallocated.
    private final class Hold: Sendable {
        let body: HTTPBody

        init(_ body: HTTPBody) { self.body = body }

        deinit { body.cancel() }
    }
}

/// An event in a stream of XML; see ``XMLEvents``.
///
/// Comments and processing instructions are left out.
public enum XMLEvent: Sendable, Hashable {
    /// The start of an element, with its name and its attributes. Namespace declarations are left out.
    case start(XMLName, [XMLName: String])
    /// Text with references resolved. CDATA sections are text, too. Long text is delivered in several events.
    case text(String)
    /// The end of an element.
    case end(XMLName)
}

extension XMLEvents {
    /// Returns the elements with a local name, each as a tree as soon as it's complete.
    ///
    /// Use it to read an export of any length in little memory:
    ///
    /// ```swift
    /// let export = try await agent.send(Call<XMLEvents>(.get, "export.xml")).value
    /// for try await row in export.elements("row") { print(row.attribute("id") ?? "") }
    /// ```
    ///
    /// An element nested in an element of the same name is part of that element's tree.
    ///
    /// - Parameters:
    ///   - local: The name without a prefix, in any namespace.
    ///   - limits: The limits for each element. Depth counts from the element.
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
    /// The element of the sequence: an XML element with all its content.
    public typealias Element = XMLTree
    /// Reading throws ``XMLError``, or `ErrandError` if the transfer fails.
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

    /// Reads the elements one at a time, on the caller's actor.
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
