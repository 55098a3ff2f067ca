public import ErrandEssentials
public import ErrandHTTP

/// An event in the life of an activity, as accessories receive it. The cases are listed in the order in which events
/// happen. More can be added, so write a `default` in a `switch`.
public enum ActivityEvent: Sendable {
    /// The activity starts. Sent synchronously on the thread that starts it; if you cancel here, the request isn't
    /// sent.
    case willStart
    /// The request was built. Filters haven't seen it yet.
    case built(HTTPRequest)
    /// A request is passed to the transport. `attempt` counts the retries of the call and `hop` the redirects of the
    /// attempt, both from 1.
    case sending(HTTPRequest, attempt: Int, hop: Int)
    /// Bytes of a request body, up to the accessory's `maximumBodyBytes`.
    case requestBody(Data)
    /// An event that the transport reported, such as progress or timings.
    case transport(TransportEvent)
    /// The transport returned a response. The body is omitted if it's a stream, which belongs to its reader, or hasn't
    /// arrived yet, as with a status of 300 or more.
    case received(HTTPResponse, attempt: Int, hop: Int)
    /// Bytes of a response body, up to the accessory's `maximumBodyBytes`.
    case responseBody(Data)
    /// The response was a redirect, and the new request is about to be sent.
    case redirected(HTTPResponse, to: HTTPRequest)
    /// A WebSocket message was sent, or was received and not yet read; or an event of an event stream was read. Only
    /// for accessories whose `observesMessages` is true.
    case message(StreamMessage)
    /// A message from a filter, such as a retry that waits or a cache write that failed.
    case note(ActivityNote)
    /// The outcome is decided. The delegate and the completion run next, and then ``didStop(_:)`` follows as the last
    /// event.
    case willStop(ActivityOutcome)
    /// The delegate and the completion have run. This is the last event of the activity.
    case didStop(ActivityOutcome)
}

/// A message from a filter or transport about its work, for logs.
public struct ActivityNote: Sendable {
    /// The name of the filter or component that sent the note, such as "cache" or "retry".
    public var name: String
    /// The message, for logs and people. Programs read ``details`` instead.
    public var message: String {
        get { text ?? kept.first.map { "\($0)" } ?? "" }
        set { text = newValue }
    }
    /// The content of the note as a value, for programs. Nil if there is only a message.
    public var details: (any Sendable)? {
        get { kept.first }
        set { kept = newValue.map { [$0] } ?? [] }
    }
    // An array, because a value of any type would make copying the event a runtime call.
    private var kept: [any Sendable]
    /// Nil for the description of the details.
    private var text: String?

    /// Creates a note with a message and, optionally, details for programs.
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

/// How an activity ended: with success, a failure or a cancellation.
public enum ActivityOutcome: Sendable {
    /// The activity succeeded. Contains the final response, without a streamed body. Nil if the activity isn't a
    /// request, or ended with an ``ErrandHTTP/ExpectedError``.
    case success(HTTPResponse?)
    /// The activity failed. Contains the error that the caller receives.
    case failure(any Error)
    /// The activity was cancelled. Contains the first cause.
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
