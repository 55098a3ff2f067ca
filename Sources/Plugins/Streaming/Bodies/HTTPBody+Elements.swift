public import Errand
public import ErrandEssentials

/// Limits for a stream's elements.
public enum ElementLimit {
    /// The default maximum size of a line, a value, or an event: 16 MiB.
    public static let standard = 16 << 20
}

extension HTTPBody {
    /// Returns the lines of UTF-8 text, without their line endings: LF, CR LF, or CR. The last line doesn't need an
    /// ending. Invalid UTF-8 becomes U+FFFD, and a byte order mark at the beginning is skipped.
    ///
    /// ```swift
    /// for try await line in body.lines() { print(line) }
    /// ```
    ///
    /// - Parameter limit: The maximum size of one line in bytes. Defaults to 16 MiB. A longer line throws
    ///   ``StreamingError/Code/elementTooLong``.
    public func lines(upTo limit: Int = ElementLimit.standard) -> ElementStream<String> {
        ElementStream(.body(self)) { _ in LineReader(limit: limit) }
    }

    /// Returns JSON values, one per line (NDJSON, JSON Lines), decoded as they arrive. Skips blank lines.
    ///
    /// ```swift
    /// for try await user in body.jsonLines(of: User.self) { print(user.name) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values. Use `Data` for their undecoded bytes.
    ///   - decoder: The decoder. Defaults to a `JSONDecoder`.
    ///   - limit: The maximum size of one line in bytes. Defaults to 16 MiB.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder(),
        upTo limit: Int = ElementLimit.standard
    ) -> ElementStream<Value> {
        let decoding = ElementDecoding<Value>(decoder)
        return ElementStream(.body(self)) { _ in decoding.reader(JSONLineSplitter(limit: limit)) }
    }

    /// Returns the values of a JSON text sequence (RFC 7464, `application/json-seq`), decoded as they arrive.
    ///
    /// ```swift
    /// for try await user in body.jsonSequence(of: User.self) { print(user.name) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values. Use `Data` for their undecoded bytes.
    ///   - decoder: The decoder. Defaults to a `JSONDecoder`.
    ///   - limit: The maximum size of one value in bytes. Defaults to 16 MiB.
    public func jsonSequence<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder(),
        upTo limit: Int = ElementLimit.standard
    ) -> ElementStream<Value> {
        let decoding = ElementDecoding<Value>(decoder)
        return ElementStream(.body(self)) { _ in decoding.reader(JSONSequenceSplitter(limit: limit)) }
    }

    /// Returns the elements of a JSON array, each decoded as soon as it's complete. The array can have any length
    /// without using much memory.
    ///
    /// ```swift
    /// for try await user in body.jsonElements(of: User.self) { print(user.name) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the elements. Use `Data` for their undecoded bytes.
    ///   - decoder: The decoder. Defaults to a `JSONDecoder`.
    ///   - limit: The maximum size of one element in bytes. Defaults to 16 MiB.
    public func jsonElements<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder(),
        upTo limit: Int = ElementLimit.standard
    ) -> ElementStream<Value> {
        let decoding = ElementDecoding<Value>(decoder)
        return ElementStream(.body(self)) { _ in decoding.reader(JSONArraySplitter(limit: limit)) }
    }

    /// Returns the events of an event stream (HTML standard, section 9.2) from a response that you already have.
    /// Doesn't reconnect; use ``Errand/Agent/events(_:_:options:)`` for that.
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
