import Errand

/// The events of a stream as values.
///
/// An event that cannot be decoded throws ``StreamingError/Code/decodingFailed``, with its number and the underlying error;
/// an iterator continues with the next event. Otherwise it behaves like ``EventStream``.
public struct TypedEvents<Value: Sendable>: AsyncSequence, Sendable {
    /// The type of a value.
    public typealias Element = Value
    /// ``StreamingError``, or ``Errand/ErrandError`` for a failed transfer.
    public typealias Failure = any Error

    /// The stream of the events: its state, its last id, its end.
    public let stream: EventStream
    private let types: EventTypes<Value>

    init(_ stream: EventStream, _ types: EventTypes<Value>) { (self.stream, self.types) = (stream, types) }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(stream, types) }

    /// Pulls the values, on the caller's own actor.
    public struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        private let types: EventTypes<Value>
        private var events: EventStream.Iterator?
        private var count = 0

        fileprivate init(_ stream: EventStream, _ types: EventTypes<Value>) {
            (self.stream, self.types) = (stream, types)
            events = stream.makeAsyncIterator()
        }

        /// The next value; nil at the end of the stream.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Value? {
            while let event = try await events?.next(isolation: actor) {
                count += 1
                if types.ends(at: event) { break }
                guard let response = stream.response else { break }
                do {
                    if let value = try types.value(of: event, response) { return value }
                } catch {
                    throw StreamingError(
                        .decodingFailed,
                        "the event \(event.name.debugDescription) is no \(Value.self): \(error.briefDescription)",
                        byte: 0,
                        element: count, underlying: error)
                }
            }
            events = nil
            return nil
        }
    }
}
