import Errand

/// A stream's events, decoded as values.
///
/// If an event can't be decoded, throws ``StreamingError/Code/decodingFailed`` with its number and the underlying
/// error; the iterator continues with the next event. Otherwise, it behaves like ``EventStream``.
public struct TypedEvents<Value: Sendable>: AsyncSequence, Sendable {
    /// A decoded value.
    public typealias Element = Value
    /// ``StreamingError``, or ``Errand/ErrandError`` if the transfer fails.
    public typealias Failure = any Error

    /// The underlying event stream. Use it to observe or cancel the stream.
    public let stream: EventStream
    private let types: EventTypes<Value>

    init(_ stream: EventStream, _ types: EventTypes<Value>) { (self.stream, self.types) = (stream, types) }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator { Iterator(stream, types) }

    /// Reads values on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        private let types: EventTypes<Value>
        private var events: EventStream.Iterator?
        private var count = 0

        fileprivate init(_ stream: EventStream, _ types: EventTypes<Value>) {
            (self.stream, self.types) = (stream, types)
            events = stream.makeAsyncIterator()
        }

        /// Returns the next value, or `nil` at the end of the stream.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Value? {
            guard events != nil else { return nil }
            while let event = try await events?.next(isolation: actor) {
                count += 1
                if types.ends(at: event) {
                    events = nil
                    return nil
                }
                guard let response = stream.response else { break }
                do {
                    if let value = try types.value(of: event, response) { return value }
                } catch {
                    throw StreamingError(
                        .decodingFailed,
                        "the event \(event.name.debugDescription) can't be decoded as \(Value.self): \(error.briefDescription)",
                        byte: 0,
                        element: count, underlying: error)
                }
            }
            events = nil
            if types.hasEnd {
                throw StreamingError(
                    .truncated, "the stream ended without the event that marks its end", byte: 0, element: count + 1)
            }
            return nil
        }
    }
}
