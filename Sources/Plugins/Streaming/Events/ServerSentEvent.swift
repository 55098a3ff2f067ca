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
    /// The event's name, called `type` in the DOM. Defaults to "message".
    public var name: String
    /// The lines of data, joined by LF.
    public var data: String
    /// The ID of this event, or of the last preceding event that had one. Empty if no event had an ID.
    public var id: String

    /// Creates an event.
    public init(name: String = "message", data: String, id: String = "") {
        (self.name, self.data, self.id) = (name, data, id)
    }

    /// Decodes the data, by default as JSON. Throws the decoder's error.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by decoder: any BodyDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(data.utf8))
    }
}
