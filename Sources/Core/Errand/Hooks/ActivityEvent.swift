public import ErrandEssentials
public import ErrandHTTP

/// An event of an activity. Cases are in the order of events. More can be added, so write a `default` in a `switch`.
public enum ActivityEvent: Sendable {
    /// The activity starts. Sent synchronously on the starting thread; if you cancel here, the request isn't sent.
    case willStart
    /// The request was built. Filters haven't seen it yet.
    case built(HTTPRequest)
    /// A request is passed to the transport. `attempt` and `hop` count from 1.
    case sending(HTTPRequest, attempt: Int, hop: Int)
    /// Bytes of a request body, if the accessory wants them.
    case requestBody(Data)
    /// An event reported by the transport.
    case transport(TransportEvent)
    /// The transport returned a response. The body is omitted if it's a stream, which belongs to its reader, or hasn't
    /// arrived yet, as with a status of 300 or more.
    case received(HTTPResponse, attempt: Int, hop: Int)
    /// Bytes of a response body, if the accessory wants them.
    case responseBody(Data)
    /// A redirect is being followed.
    case redirected(HTTPResponse, to: HTTPRequest)
    /// A WebSocket message, if the accessory wants it: sent, or received and not yet read.
    case message(StreamMessage)
    /// A message from a filter, such as a retry that waits or a cache write that failed.
    case note(ActivityNote)
    /// The outcome is decided; the delegate and the completion are next. Only ``didStop(_:)`` follows.
    case willStop(ActivityOutcome)
    /// The delegate and the completion have been notified. No event follows.
    case didStop(ActivityOutcome)
}

/// A log message from a filter.
public struct ActivityNote: Sendable {
    /// The source of the note, such as "cache" or "retry".
    public var name: String
    /// The message for people.
    public var message: String {
        get { text ?? kept.first.map { "\($0)" } ?? "" }
        set { text = newValue }
    }
    /// Structured data in addition to the text.
    public var details: (any Sendable)? {
        get { kept.first }
        set { kept = newValue.map { [$0] } ?? [] }
    }
    // An array, because a value of any type would make copying the event a runtime call.
    private var kept: [any Sendable]
    /// Nil for the description of the details.
    private var text: String?

    /// Creates a note.
    public init(_ name: String, _ message: String, details: (any Sendable)? = nil) {
        (self.name, text) = (name, message)
        kept = details.map { [$0] } ?? []
    }

    /// Creates a note whose message is the description of its details. Most accessories don't read messages, so the
    /// description is computed when one does.
    public init(_ name: String, describing details: some Sendable & CustomStringConvertible) {
        (self.name, kept) = (name, [details])
    }
}

/// How an activity ended.
public enum ActivityOutcome: Sendable {
    /// Success, with the response that was read, without a streamed body. Nil if the activity isn't a request, or ended
    /// with an ``ErrandHTTP/ExpectedError``.
    case success(HTTPResponse?)
    /// Failure, with the error that the caller receives.
    case failure(any Error)
    /// Cancellation, with its cause.
    case cancelled(CancellationCause)
}

extension ActivityOutcome: CustomStringConvertible {
    /// "success: 200 https://example.com/a", "failure: timedOut: …" or "cancelled by agent", for logs.
    public var description: String {
        switch self {
        case .success(let response): response.map { "success: \($0)" } ?? "success"
        case .failure(let error): "failure: \(error)"
        case .cancelled(let cause): "cancelled by \(cause)"
        }
    }
}
