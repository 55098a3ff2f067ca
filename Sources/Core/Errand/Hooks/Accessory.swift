public import ErrandEssentials
public import ErrandHTTP

/// Observes activities: notified of every event, changes nothing.
///
/// ```swift
/// final class Counter: Accessory {
///     let starts = Atomic(0)
///     func activity(_ activity: Activity, did event: ActivityEvent) {
///         if case .willStart = event { starts.add(1, ordering: .relaxed) }
///     }
/// }
/// ```
///
/// Called synchronously, on whatever thread the event happens, in order for one activity, for several activities at
/// once: keep it short and its state behind a lock. Every activity that will start will stop and did stop, exactly once.
/// An accessory is held for as long as its agent or activity is; wrap an object that should not be in ``WeakAccessory``.
public protocol Accessory: Sendable {
    /// Bytes of each body that it wants copies of; 0 by default, and then no body is touched for it.
    var maximumBodyBytes: Int { get }
    /// Read when an activity starts; one that is false receives no event of it, and costs nothing. True by default.
    var isListening: Bool { get }
    /// Receives an event, in the order in which the events of the activity happen.
    func activity(_ activity: Activity, did event: ActivityEvent)
}

extension Accessory {
    /// None.
    public var maximumBodyBytes: Int { 0 }
    /// True.
    public var isListening: Bool { true }
}

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
    /// A response came from the transport; a streamed body is left out, since it belongs to its reader.
    case received(HTTPResponse, attempt: Int, hop: Int)
    /// Bytes of a response's body, if asked for.
    case responseBody(Data)
    /// A redirect is followed.
    case redirected(HTTPResponse, to: HTTPRequest)
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
    public var details: (any Sendable)?

    /// Makes a note.
    public init(_ name: String, _ message: String, details: (any Sendable)? = nil) {
        self.name = name
        self.message = message
        self.details = details
    }
}

/// How an activity ended.
public enum ActivityOutcome: Sendable {
    /// With the response that was read, a streamed body left out; nil for an activity that is no request.
    case success(HTTPResponse?)
    /// With the error that the caller gets.
    case failure(any Error)
    /// By the cause that it names.
    case cancelled(CancellationCause)
}

/// An accessory that does not keep its object alive, for one that owns the agent or the handle.
public struct WeakAccessory: Accessory {
    private weak let object: (any Accessory & AnyObject)?
    /// That of the object.
    public let maximumBodyBytes: Int
    /// Whether the object still exists and listens.
    public var isListening: Bool { object?.isListening ?? false }

    /// Holds the object weakly.
    public init(_ object: any Accessory & AnyObject) {
        self.object = object
        maximumBodyBytes = object.maximumBodyBytes
    }

    /// Passes the event on, while the object exists.
    public func activity(_ activity: Activity, did event: ActivityEvent) { object?.activity(activity, did: event) }
}
