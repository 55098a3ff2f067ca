import Errand
import ErrandEssentials

/// The elements of a body, each as soon as it is complete: lines, values, events.
///
/// ```swift
/// for try await line in body.lines() { print(line) }
/// ```
///
/// It pulls: a slow reader slows down the sender. Memory is bounded by the longest element, which has a limit. Leaving
/// the loop cancels the transfer. A stream over a body has one reader, like the body; one that was made from a request
/// sends it when reading begins, and again for each further reader.
///
/// Throws ``StreamingError``, and ``Errand/ErrandError`` for a failed transfer. After an error of the code
/// ``StreamingError/Code/decodingFailed`` an iterator continues with the next element; after any other one it has ended.
public struct ElementStream<Element: Sendable>: AsyncSequence, Sendable {
    /// An error of the transfer or of an element.
    public typealias Failure = any Error

    enum Origin: Sendable {
        case body(HTTPBody)
        case request(@Sendable () -> StreamSession)
    }

    private let origin: Origin
    private let makeReader: @Sendable (HTTPResponse?) -> ElementReader<Element>

    /// - Parameter makeReader: called once for each reader, with the response if there is one.
    init(_ origin: Origin, makeReader: @escaping @Sendable (HTTPResponse?) -> ElementReader<Element>) {
        (self.origin, self.makeReader) = (origin, makeReader)
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(origin, makeReader) }

    /// Pulls the elements, on the caller's own actor.
    public struct Iterator: AsyncIteratorProtocol {
        private let origin: Origin
        private let makeReader: @Sendable (HTTPResponse?) -> ElementReader<Element>
        @usableFromInline var reader: ElementReader<Element>?
        private var body: HTTPBody.Iterator?
        private var hold: BodyHold?
        private var session: StreamSession?
        private var isOver = false

        fileprivate init(
            _ origin: Origin, _ makeReader: @escaping @Sendable (HTTPResponse?) -> ElementReader<Element>
        ) {
            (self.origin, self.makeReader) = (origin, makeReader)
        }

        /// The next element; nil at the end.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            // Most elements are in the chunk that was received last.
            do {
                if let element = try reader?.next() { return element }
            } catch { throw ended(by: error) }
            return try await nextOfMore(isolation: actor)
        }

        @usableFromInline
        mutating func nextOfMore(isolation actor: isolated (any Actor)?) async throws -> Element? {
            do {
                while !isOver {
                    try await read(isolation: actor)
                    if let element = try reader?.next() { return element }
                }
                return nil
            } catch { throw ended(by: error) }
        }

        /// The error to throw; every error ends the stream, except that of an element that cannot be decoded.
        @usableFromInline
        mutating func ended(by error: any Error) -> any Error {
            if (error as? StreamingError)?.code == .decodingFailed { return error }
            let resolved = session?.resolved(error) ?? error
            end(resolved)
            return resolved
        }

        /// Reads one chunk; ends after the last one, when the reader has nothing left.
        private mutating func read(isolation actor: isolated (any Actor)?) async throws {
            guard let reader else { return try await open() }
            guard body != nil else { return end(nil) }
            if let chunk = try await body?.next(isolation: actor) {
                session?.count(bytes: chunk.count)
                reader.push(chunk)
            } else {
                reader.finish()
                body = nil
            }
        }

        private mutating func open() async throws {
            switch origin {
            case .body(let whole):
                reader = makeReader(nil)
                body = whole.makeAsyncIterator()
                hold = BodyHold(whole)
            case .request(let begin):
                let session = begin()
                self.session = session
                let response = try await session.connect()
                reader = makeReader(response)
                reader?.session = session
                body = response.body.makeAsyncIterator()
            }
        }

        private mutating func end(_ error: (any Error)?) {
            isOver = true
            session?.end(error)
            (reader, body, hold, session) = (nil, nil, nil, nil)
        }
    }
}

/// Cancels a body when its reader goes away, even if something else holds the body: it has no other reader.
private final class BodyHold {
    private let body: HTTPBody

    init(_ body: HTTPBody) { self.body = body }

    deinit { body.cancel() }
}
