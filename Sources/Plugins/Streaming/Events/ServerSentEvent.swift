public import Errand
public import ErrandEssentials

/// An event that a server sent (HTML standard, section 9.2).
///
/// ```swift
/// for try await event in agent.events(GetNews()) {
///     print(event.name, event.data)
/// }
/// ```
public struct ServerSentEvent: Sendable, Hashable {
    /// The name of the event, the DOM's `type`; "message" if the server gave none.
    public var name: String
    /// The lines of data, joined by LF.
    public var data: String
    /// The id of this event, or of the last one before it that had one; empty if there was none.
    public var id: String

    /// Makes an event.
    public init(name: String = "message", data: String, id: String = "") {
        (self.name, self.data, self.id) = (name, data, id)
    }

    /// The data as a value; JSON by default. Throws the error of the decoder.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by decoder: any BodyDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(data.utf8))
    }
}
