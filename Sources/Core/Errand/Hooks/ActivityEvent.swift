public import ErrandEssentials
public import ErrandHTTP

/// An event of an activity, in the order of the cases. Later versions may add cases, so include a `default` when you
/// switch.
public enum ActivityEvent: Sendable {
    /// The activity starts, on this thread. If you cancel it here, the request isn't sent.
    case willStart
    /// The request was built, before any filter.
    case built(HTTPRequest)
    /// A request is passed to the transport. Later events of the request have the same position.
    case sending(HTTPRequest, TransferPosition)
    /// Bytes of a request body, up to the accessory's `maximumBodyBytes`.
    case requestBody(Data, TransferPosition)
    /// The transport reported an event, such as progress or timings.
    case transport(TransportEvent)
    /// The transport returned a response. The event's response has no body if the body is a stream or hasn't arrived
    /// yet. For example, the body hasn't arrived yet if the status is 300 or more.
    case received(HTTPResponse, TransferPosition)
    /// Bytes of a response body, up to the accessory's `maximumBodyBytes`.
    case responseBody(Data, TransferPosition)
    /// The response was a redirect, and the new request is about to be sent.
    case redirected(HTTPResponse, to: HTTPRequest)
    /// A WebSocket message was sent or received, or an event of an event stream was read. Only for accessories whose
    /// `observesMessages` is true.
    case message(StreamMessage)
    /// A filter sent a message, for example about a retry that waits.
    case note(ActivityNote)
    /// The outcome is decided. Next, the delegate and the completion run, and then ``didStop(_:)`` follows.
    case willStop(ActivityOutcome)
    /// The delegate and the completion have run. The activity's last event.
    case didStop(ActivityOutcome)
}

/// A message from a filter or transport about its work, for logs.
public struct ActivityNote: Sendable {
    /// The name of the component that sent the note, such as "cache" or "retry".
    public var name: String
    /// The message, for logs and people. In programs, read ``details``.
    public var message: String {
        get { text ?? kept.first.map { "\($0)" } ?? "" }
        set { text = newValue }
    }
    /// The note's content as a value, for programs. Nil if there's only a message.
    public var details: (any Sendable)? {
        get { kept.first }
        set { kept = newValue.map { [$0] } ?? [] }
    }
    // An array of at most one element, which is cheaper to copy than an optional of any type.
    private var kept: [any Sendable]
    /// The message, or nil if it's the details' description.
    private var text: String?

    /// Creates a note with a message and optional details for programs.
    public init(_ name: String, _ message: String, details: (any Sendable)? = nil) {
        (self.name, text) = (name, message)
        kept = details.map { [$0] } ?? []
    }

    /// Creates a note from details. Their description is the message.
    public init(_ name: String, describing details: some Sendable & CustomStringConvertible) {
        (self.name, kept) = (name, [details])
    }
}

/// How an activity ended.
public enum ActivityOutcome: Sendable {
    /// The activity succeeded. Contains the final response, without a streamed body. The response is nil if the
    /// activity isn't a request, or ended with an ``ErrandHTTP/ExpectedError``.
    case success(HTTPResponse?)
    /// The activity failed. Contains the error that the caller receives.
    case failure(any Error)
    /// The activity was cancelled. Contains the first cause.
    case cancelled(CancellationCause)
}

extension ActivityOutcome: CustomStringConvertible {
    /// The outcome for logs, such as "failure: timedOut: …".
    public var description: String {
        switch self {
        case .success(let response): response.map { "success: \($0)" } ?? "success"
        case .failure(let error): "failure: \(error)"
        case .cancelled(.within): "cancelled from within"
        case .cancelled(let cause): "cancelled by the \(cause)"
        }
    }
}
