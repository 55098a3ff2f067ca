public import ErrandEssentials
public import ErrandHTTP

/// An event of an activity; the cases stand in the order of events. Cases may be added: write a `default`.
public enum ActivityEvent: Sendable {
    /// Synchronously, on the thread that starts it; cancelling here sends nothing.
    case willStart
    /// The request was built; filters have not seen it yet.
    case built(HTTPRequest)
    /// A request goes to the transport, the `hop`th of the `attempt`th attempt, both counted from 1.
    case sending(HTTPRequest, attempt: Int, hop: Int)
    /// Bytes of a request's body, if asked for.
    case requestBody(Data)
    /// A report of the transport.
    case transport(TransportEvent)
    /// A response came from the transport. Its body is left out if it is streamed, since that belongs to its reader, or
    /// has not arrived yet, as with a status of 300 or more.
    case received(HTTPResponse, attempt: Int, hop: Int)
    /// Bytes of a response's body, if asked for.
    case responseBody(Data)
    /// A redirect is followed.
    case redirected(HTTPResponse, to: HTTPRequest)
    /// A message of a WebSocket, if asked for: sent to its connection, or received and not yet read.
    case message(StreamMessage)
    /// A message from a filter, such as a retry that waits or a cache that could not be written.
    case note(ActivityNote)
    /// The outcome is decided; delegate and completion are next. Nothing but ``didStop(_:)`` follows.
    case willStop(ActivityOutcome)
    /// Delegate and completion have been notified; nothing follows, whatever reports it.
    case didStop(ActivityOutcome)
}

/// A message of a filter, for logs.
public struct ActivityNote: Sendable {
    /// Where it comes from, such as "cache" or "retry".
    public var name: String
    /// The message for people.
    public var message: String
    /// Anything structured beside the text.
    public var details: (any Sendable)? {
        get { kept.first }
        set { kept = newValue.map { [$0] } ?? [] }
    }
    // In an array: a value of any type makes the event that contains it one that only the runtime can copy.
    private var kept: [any Sendable]

    /// Makes a note.
    public init(_ name: String, _ message: String, details: (any Sendable)? = nil) {
        self.name = name
        self.message = message
        kept = details.map { [$0] } ?? []
    }
}
