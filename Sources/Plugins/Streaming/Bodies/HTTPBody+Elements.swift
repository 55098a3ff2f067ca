public import Errand
public import ErrandEssentials

/// The limits of a stream's elements.
public enum ElementLimit {
    /// The default limit of a line, value or event: 16 MiB.
    public static let standard = 16 << 20
}

extension HTTPBody {
    /// The lines of a text in UTF-8, without their ends: LF, CR LF or CR, at any split into chunks. The last one needs
    /// no end. Invalid UTF-8 becomes U+FFFD, a byte order mark at the beginning is skipped.
    ///
    /// ```swift
    /// for try await line in body.lines() { print(line) }
    /// ```
    ///
    /// - Parameter limit: the maximum number of bytes of one line, 16 MiB by default; a longer one throws
    ///   ``StreamingError/Code/elementTooLong``.
    public func lines(upTo limit: Int = ElementLimit.standard) -> ElementStream<String> {
        ElementStream(.body(self)) { _ in LineReader(limit: limit) }
    }

    /// JSON values, one on each line (NDJSON, JSON Lines), decoded as they arrive. Blank lines are skipped.
    ///
    /// ```swift
    /// for try await user in body.jsonLines(of: User.self) { print(user.name) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type of each value; `Data` for its bytes as they are.
    ///   - decoder: a `JSONDecoder` by default.
    ///   - limit: the maximum number of bytes of one line, 16 MiB by default.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder(),
        upTo limit: Int = ElementLimit.standard
    ) -> ElementStream<Value> {
        let decoding = ElementDecoding<Value>(decoder)
        return ElementStream(.body(self)) { _ in decoding.reader(JSONLineSplitter(limit: limit)) }
    }

    /// The values of a JSON text sequence (RFC 7464, `application/json-seq`), decoded as they arrive.
    ///
    /// ```swift
    /// for try await user in body.jsonSequence(of: User.self) { print(user.name) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type of each value; `Data` for its bytes as they are.
    ///   - decoder: a `JSONDecoder` by default.
    ///   - limit: the maximum number of bytes of one value, 16 MiB by default.
    public func jsonSequence<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder(),
        upTo limit: Int = ElementLimit.standard
    ) -> ElementStream<Value> {
        let decoding = ElementDecoding<Value>(decoder)
        return ElementStream(.body(self)) { _ in decoding.reader(JSONSequenceSplitter(limit: limit)) }
    }

    /// The elements of one JSON array, each decoded as soon as it is complete: an array of any length in little memory.
    ///
    /// ```swift
    /// for try await user in body.jsonElements(of: User.self) { print(user.name) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type of each element; `Data` for its bytes as they are.
    ///   - decoder: a `JSONDecoder` by default.
    ///   - limit: the maximum number of bytes of one element, 16 MiB by default.
    public func jsonElements<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder(),
        upTo limit: Int = ElementLimit.standard
    ) -> ElementStream<Value> {
        let decoding = ElementDecoding<Value>(decoder)
        return ElementStream(.body(self)) { _ in decoding.reader(JSONArraySplitter(limit: limit)) }
    }

    /// The events of an event stream (HTML standard, section 9.2), for a body that was received already; its request is
    /// not sent again. ``Errand/Agent/events(_:_:options:)`` sends a request, and sends it again.
    ///
    /// ```swift
    /// for try await event in body.events() { print(event.data) }
    /// ```
    ///
    /// - Parameter limit: the maximum number of bytes of one event's data, and of one line, 16 MiB by default.
    public func events(upTo limit: Int = ElementLimit.standard) -> ElementStream<ServerSentEvent> {
        ElementStream(.body(self)) { _ in EventBodyReader(limit: limit) }
    }
}
