public import Errand
public import ErrandEssentials

/// A sequence of the elements in a body, such as lines, values or events. It delivers each element as soon as the
/// element is complete.
///
/// ```swift
/// for try await line in body.lines() { print(line) }
/// ```
///
/// The stream reads on demand, so a slow reader slows the sender down. Memory is bounded by the maximum element size.
/// Leaving the loop cancels the transfer.
///
/// A stream that was created from a body can be read by one reader only. A stream that was created from a request sends
/// the request when you start reading, and sends it again for each further reader.
///
/// Reading throws ``StreamingError``, or ``Errand/ErrandError`` if the transfer fails. If an element can't be decoded,
/// reading throws ``StreamingError/Code/decodingFailed``, and you can read the next element afterwards. Any other error
/// ends the stream.
public struct ElementStream<Element: Sendable>: AsyncSequence, Sendable {
    /// Reading throws ``StreamingError``, or ``Errand/ErrandError`` if the transfer fails.
    public typealias Failure = any Error

    enum Origin: Sendable {
        case body(HTTPBody)
        case request(@Sendable () -> StreamSession)
    }

    private let origin: Origin
    private let makeReader: @Sendable (HTTPResponse?) -> ElementReader<Element>

    /// - Parameter makeReader: Creates the parser for a response. Called once for each reader of the stream.
    init(_ origin: Origin, makeReader: @escaping @Sendable (HTTPResponse?) -> ElementReader<Element>) {
        (self.origin, self.makeReader) = (origin, makeReader)
    }

    /// Creates an iterator. It starts reading at its first `next()`.
    public func makeAsyncIterator() -> Iterator { Iterator(origin, makeReader) }

    /// Reads the elements on the caller's actor.
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

        /// Returns the next element, or nil at the end.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            // Usually, the next element is in the chunk that was received last.
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

        /// Returns the error to throw. Ends the stream, unless the error only means that an element couldn't be
        /// decoded.
        @usableFromInline
        mutating func ended(by error: any Error) -> any Error {
            if (error as? StreamingError)?.code == .decodingFailed { return error }
            let resolved = session?.resolved(error) ?? error
            end(resolved)
            return resolved
        }

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

/// Cancels a body's transfer when the body's only reader is released, even if other code still holds the body.
private final class BodyHold {
    private let body: HTTPBody

    init(_ body: HTTPBody) { self.body = body }

    deinit { body.cancel() }
}

extension Agent {
    /// Returns a response's lines as they arrive, decoded with the charset of its `Content-Type`. See
    /// ``Errand/HTTPBody/lines(upTo:)``.
    ///
    /// ```swift
    /// for try await line in agent.lines(Call(.get, "jobs/7/log")) { print(line) }
    /// ```
    ///
    /// The request is sent when you start reading, within an activity of the kind ``Errand/ActivityKind/stream`` that
    /// `cancelAll` can cancel. In charsets other than UTF-8, an invalid line throws
    /// ``StreamingError/Code/decodingFailed``. UTF-16 isn't supported.
    public func lines<R: Request>(
        _ request: R, upTo limit: Int = ElementLimit.standard, options: CallOptions = CallOptions()
    ) -> ElementStream<String> where R.Output == HTTPBody {
        ElementStream(.request { StreamSession(request, on: self, options, unit: "lines") }) { response in
            LineReader(limit: limit, charset: response?.charsetLabel)
        }
    }

    /// Returns the JSON values in a response that contains one value per line. The request's or the agent's decoder
    /// decodes them. See ``Errand/HTTPBody/jsonLines(of:decoder:upTo:)``.
    ///
    /// ```swift
    /// for try await user in agent.jsonLines(Call(.get, "users"), of: User.self) { print(user.name) }
    /// ```
    public func jsonLines<R: Request, Value: Decodable & Sendable>(
        _ request: R, of type: Value.Type = Value.self, upTo limit: Int = ElementLimit.standard,
        options: CallOptions = CallOptions()
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        values(request, options) { JSONLineSplitter(limit: limit) }
    }

    /// Returns the values in a response that contains a JSON text sequence. See
    /// ``Errand/HTTPBody/jsonSequence(of:decoder:upTo:)``.
    ///
    /// ```swift
    /// for try await user in agent.jsonSequence(Call(.get, "users"), of: User.self) { print(user.name) }
    /// ```
    public func jsonSequence<R: Request, Value: Decodable & Sendable>(
        _ request: R, of type: Value.Type = Value.self, upTo limit: Int = ElementLimit.standard,
        options: CallOptions = CallOptions()
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        values(request, options) { JSONSequenceSplitter(limit: limit) }
    }

    /// Returns the elements of the JSON array in a response. See ``Errand/HTTPBody/jsonElements(of:decoder:upTo:)``.
    ///
    /// ```swift
    /// for try await user in agent.jsonElements(Call(.get, "users"), of: User.self) { print(user.name) }
    /// ```
    public func jsonElements<R: Request, Value: Decodable & Sendable>(
        _ request: R, of type: Value.Type = Value.self, upTo limit: Int = ElementLimit.standard,
        options: CallOptions = CallOptions()
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        values(request, options) { JSONArraySplitter(limit: limit) }
    }

    private func values<R: Request, Value: Decodable & Sendable>(
        _ request: R, _ options: CallOptions,
        splitter: @escaping @Sendable () -> ElementSplitter
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        ElementStream(.request { StreamSession(request, on: self, options, unit: "values") }) { response in
            (response.map { ElementDecoding($0) } ?? ElementDecoding(JSONDecoder())).reader(splitter())
        }
    }
}

/// The default limit for elements.
public enum ElementLimit {
    /// The default maximum size of a line, a value, or an event: 16 MiB.
    public static let standard = 16 << 20
}

extension HTTPBody {
    /// Returns the lines of UTF-8 text, without their line endings. LF, CR LF and CR end a line, and so does the end of
    /// the body. Invalid UTF-8 becomes U+FFFD, and a byte order mark at the beginning is skipped.
    ///
    /// ```swift
    /// for try await line in body.lines() { print(line) }
    /// ```
    ///
    /// - Parameter limit: The maximum size of a line in bytes. A longer line throws
    ///   ``StreamingError/Code/elementTooLong``. Defaults to 16 MiB.
    public func lines(upTo limit: Int = ElementLimit.standard) -> ElementStream<String> {
        ElementStream(.body(self)) { _ in LineReader(limit: limit) }
    }

    /// Returns the JSON values in a body that contains one value per line (NDJSON, JSON Lines). Decodes the values as
    /// they arrive, and skips blank lines.
    ///
    /// ```swift
    /// for try await user in body.jsonLines(of: User.self) { print(user.name) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values. Use `Data` for their undecoded bytes.
    ///   - decoder: Defaults to a `JSONDecoder`.
    ///   - limit: The maximum size of a line in bytes. Defaults to 16 MiB.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder(),
        upTo limit: Int = ElementLimit.standard
    ) -> ElementStream<Value> {
        let decoding = ElementDecoding<Value>(decoder)
        return ElementStream(.body(self)) { _ in decoding.reader(JSONLineSplitter(limit: limit)) }
    }

    /// Returns the values in a JSON text sequence (RFC 7464, `application/json-seq`), and decodes them as they arrive.
    ///
    /// ```swift
    /// for try await user in body.jsonSequence(of: User.self) { print(user.name) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values. Use `Data` for their undecoded bytes.
    ///   - decoder: Defaults to a `JSONDecoder`.
    ///   - limit: The maximum size of a value in bytes. Defaults to 16 MiB.
    public func jsonSequence<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder(),
        upTo limit: Int = ElementLimit.standard
    ) -> ElementStream<Value> {
        let decoding = ElementDecoding<Value>(decoder)
        return ElementStream(.body(self)) { _ in decoding.reader(JSONSequenceSplitter(limit: limit)) }
    }

    /// Returns the elements of a JSON array, and decodes them as they arrive. Memory doesn't grow with the array's
    /// length.
    ///
    /// ```swift
    /// for try await user in body.jsonElements(of: User.self) { print(user.name) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the elements. Use `Data` for their undecoded bytes.
    ///   - decoder: Defaults to a `JSONDecoder`.
    ///   - limit: The maximum size of an element in bytes. Defaults to 16 MiB.
    public func jsonElements<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder(),
        upTo limit: Int = ElementLimit.standard
    ) -> ElementStream<Value> {
        let decoding = ElementDecoding<Value>(decoder)
        return ElementStream(.body(self)) { _ in decoding.reader(JSONArraySplitter(limit: limit)) }
    }

    /// Returns the events in this body, which is an event stream (HTML standard, section 9.2). Doesn't reconnect when
    /// the body ends: use ``Errand/Agent/events(_:_:options:)`` for that.
    ///
    /// ```swift
    /// for try await event in body.events() { print(event.data) }
    /// ```
    ///
    /// - Parameter limit: The maximum size in bytes of one event's data, and of one line. Defaults to 16 MiB.
    public func events(upTo limit: Int = ElementLimit.standard) -> ElementStream<ServerSentEvent> {
        ElementStream(.body(self)) { _ in EventBodyReader(limit: limit) }
    }
}
