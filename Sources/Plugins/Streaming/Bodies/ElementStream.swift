import Errand
import ErrandEssentials

/// The elements of a body, such as lines, values, or events, each as soon as it's complete.
///
/// ```swift
/// for try await line in body.lines() { print(line) }
/// ```
///
/// The stream reads on demand, so a slow reader slows the sender down. Memory is bounded by the maximum element size.
/// Leaving the loop cancels the transfer.
///
/// A stream over a body has one reader. A stream created from a request sends it when you start reading, and again for
/// each further reader.
///
/// Throws ``StreamingError``, or ``Errand/ErrandError`` if the transfer fails. After a
/// ``StreamingError/Code/decodingFailed`` error, the iterator continues with the next element. Any other error ends it.
public struct ElementStream<Element: Sendable>: AsyncSequence, Sendable {
    /// An error of the transfer or of an element.
    public typealias Failure = any Error

    enum Origin: Sendable {
        case body(HTTPBody)
        case request(@Sendable () -> StreamSession)
    }

    private let origin: Origin
    private let makeReader: @Sendable (HTTPResponse?) -> ElementReader<Element>

    /// - Parameter makeReader: Called once for each reader, with the response if there is one.
    init(_ origin: Origin, makeReader: @escaping @Sendable (HTTPResponse?) -> ElementReader<Element>) {
        (self.origin, self.makeReader) = (origin, makeReader)
    }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator { Iterator(origin, makeReader) }

    /// Reads elements on the caller's actor.
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

        /// Returns the next element, or `nil` at the end.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            // Most elements are in the last received chunk.
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

        /// Returns the error to throw. Ends the stream, unless an element couldn't be decoded.
        @usableFromInline
        mutating func ended(by error: any Error) -> any Error {
            if (error as? StreamingError)?.code == .decodingFailed { return error }
            let resolved = session?.resolved(error) ?? error
            end(resolved)
            return resolved
        }

        /// Reads one chunk. Ends the stream when the body has ended and the reader has no more elements.
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

/// Cancels a body when its only reader is released, even if something else retains the body.
private final class BodyHold {
    private let body: HTTPBody

    init(_ body: HTTPBody) { self.body = body }

    deinit { body.cancel() }
}
