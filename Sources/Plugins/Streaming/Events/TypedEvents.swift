import Errand
import ErrandEssentials

/// A sequence of a stream's events, decoded as values.
///
/// If an event can't be decoded, reading throws ``StreamingError/Code/decodingFailed`` with the event's number. You can
/// read the next event afterwards. Apart from that, the sequence behaves like ``EventStream``.
public struct TypedEvents<Value: Sendable>: AsyncSequence, Sendable {
    /// A value decoded from an event.
    public typealias Element = Value
    /// Reading throws ``StreamingError``, or ``Errand/ErrandError`` if the transfer fails.
    public typealias Failure = any Error

    /// The underlying event stream, to observe or cancel it.
    public let stream: EventStream
    private let types: EventTypes<Value>

    init(_ stream: EventStream, _ types: EventTypes<Value>) { (self.stream, self.types) = (stream, types) }

    /// Creates an iterator. The stream can have only one reader.
    public func makeAsyncIterator() -> Iterator { Iterator(stream, types) }

    /// Reads the values on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        private let types: EventTypes<Value>
        private var events: EventStream.Iterator?
        private var count = 0

        fileprivate init(_ stream: EventStream, _ types: EventTypes<Value>) {
            (self.stream, self.types) = (stream, types)
            events = stream.makeAsyncIterator()
        }

        /// Returns the next value, or nil at the end of the stream.
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

/// Rules for decoding events, with a `Decodable` type for each event name.
///
/// ```swift
/// nonisolated struct Delta: Decodable, Sendable { let text: String }
/// nonisolated struct Usage: Decodable, Sendable { let tokens: Int }
///
/// enum ChatEvent: Sendable {
///     case delta(Delta)
///     case done(Usage)
///
///     static let types = EventTypes<ChatEvent>()
///         .on("delta") { .delta($0) }
///         .on("done") { .done($0) }
/// }
///
/// for try await event in agent.events(GetNews(), as: ChatEvent.types) {
///     if case .delta(let delta) = event { print(delta.text) }
/// }
/// ```
///
/// The request's or the agent's decoder decodes the data. Events without a rule are ignored, as a browser ignores
/// events without a listener.
public struct EventTypes<Value: Sendable>: Sendable {
    struct Decoding: Sendable {
        let response: HTTPResponse

        func value<Payload: Decodable>(_ event: ServerSentEvent) throws -> Payload {
            var http = response
            http.body = HTTPBody(Data(event.data.utf8))
            do { return try http.decoded(as: Payload.self) } catch let error as ErrandError {
                throw error.underlying ?? error
            }
        }
    }

    typealias Rule = @Sendable (ServerSentEvent, Decoding) throws -> Value?
    private var rules: [String: Rule] = [:]
    private var fallback: Rule?
    private var isEnd: (@Sendable (ServerSentEvent) -> Bool)?

    /// Creates rules that ignore every event.
    public init() {}

    /// Returns rules that also decode the data of events with this name, and convert it to a value.
    public func on<Payload: Decodable & Sendable>(
        _ name: String, _ make: @escaping @Sendable (Payload) -> Value
    ) -> EventTypes {
        with { $0.rules[name] = { event, decoding in make(try decoding.value(event)) } }
    }

    /// Returns rules that also deliver this value for each event with this name.
    public func on(_ name: String, _ value: Value) -> EventTypes {
        with { $0.rules[name] = { _, _ in value } }
    }

    /// Returns rules that also convert all events without a rule. Return nil from the closure to ignore an event.
    public func otherwise(_ make: @escaping @Sendable (ServerSentEvent) throws -> Value?) -> EventTypes {
        with { $0.fallback = { event, _ in try make(event) } }
    }

    /// Returns rules that end the stream normally at an event with this data, such as `.ending(at: "[DONE]")`. If the
    /// server ends the stream without this event, reading throws ``StreamingError/Code/truncated`` after the last
    /// value.
    public func ending(at data: String) -> EventTypes { ending { $0.data == data } }

    /// Returns rules that end the stream normally at the first event for which the closure returns true. See
    /// ``ending(at:)``.
    public func ending(where isEnd: @escaping @Sendable (ServerSentEvent) -> Bool) -> EventTypes {
        with { $0.isEnd = isEnd }
    }

    private func with(_ change: (inout EventTypes) -> Void) -> EventTypes {
        var copy = self
        change(&copy)
        return copy
    }

    var hasEnd: Bool { isEnd != nil }
    func ends(at event: ServerSentEvent) -> Bool { isEnd?(event) ?? false }

    func value(of event: ServerSentEvent, _ response: HTTPResponse) throws -> Value? {
        try (rules[event.name] ?? fallback)?(event, Decoding(response: response))
    }
}

extension EventTypes where Value: Decodable {
    /// Rules that decode all events as one type.
    public static var any: EventTypes {
        EventTypes().with { $0.fallback = { event, decoding in try decoding.value(event) } }
    }
}
