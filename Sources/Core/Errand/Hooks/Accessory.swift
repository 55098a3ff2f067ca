import ErrandHTTP

/// Observes activities. It's notified of every event and can't change anything.
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
/// Events arrive synchronously, on the thread on which they happen: in order for one activity, concurrently for
/// several. Return quickly, and protect your state with a lock. Every activity sends will-start, will-stop and did-stop
/// exactly once.
///
/// The agent or activity keeps an accessory alive. To hold an object weakly, wrap it in ``WeakAccessory``.
public protocol Accessory: Sendable {
    /// The most bytes of each request and response body that Core copies for this accessory. Defaults to 0, which
    /// copies nothing.
    var maximumBodyBytes: Int { get }
    /// Whether to report WebSocket messages and events of event streams. Defaults to false, which doesn't copy messages.
    var observesMessages: Bool { get }
    /// Whether to receive the notes of filters in an activity of this kind, read when it starts. Defaults to true. If no
    /// accessory of the activity wants them, notes aren't created.
    func observesNotes(of kind: ActivityKind) -> Bool
    /// Whether to receive an activity's events, read when it starts. If false, the accessory costs no time. Defaults to
    /// true.
    var isListening: Bool { get }
    /// Receives an event, on the thread on which it happens, so return quickly. The events of one activity arrive in
    /// order.
    func activity(_ activity: Activity, did event: ActivityEvent)
}

extension Accessory {
    /// The default implementation returns 0: no body bytes are copied.
    public var maximumBodyBytes: Int { 0 }
    /// The default implementation returns false: messages aren't reported.
    public var observesMessages: Bool { false }
    /// The default implementation returns true: notes of every activity are reported.
    public func observesNotes(of kind: ActivityKind) -> Bool { true }
    /// The default implementation returns true: the accessory receives all events.
    public var isListening: Bool { true }
}

/// An accessory that runs a closure on the main actor, for example to update a screen.
///
/// ```swift
/// @MainActor final class Banner {
///     var text = ""
///
///     var accessory: some Accessory {
///         MainActorAccessory { [weak self] activity, event in
///             if case .willStop(.failure(let error)) = event { self?.text = error.localizedDescription }
///         }
///     }
/// }
/// ```
///
/// Events arrive in order, but after the activity has moved on: cancelling in `willStart` is too late to prevent the
/// request. Only the newest of several waiting progress values is delivered.
public struct MainActorAccessory: Accessory {
    private let listener: MainActorListener<Received>

    private struct Received: Sendable {
        let activity: Activity
        let event: ActivityEvent
    }

    /// Creates an accessory that passes each event to a closure on the main actor.
    public init(_ body: @escaping @MainActor @Sendable (Activity, ActivityEvent) -> Void) {
        listener = MainActorListener(merging: Self.merged) { body($0.activity, $0.event) }
    }

    /// Passes the event to the closure on the main actor, and returns before the closure runs.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        listener.receive(Received(activity: activity, event: event))
    }

    /// Merges consecutive progress events of one activity.
    @Sendable private static func merged(_ waiting: Received, _ newest: Received) -> Received? {
        guard case .transport(.progress) = waiting.event, case .transport(.progress) = newest.event,
            waiting.activity === newest.activity
        else { return nil }
        return newest
    }
}

/// Wraps an accessory without keeping it alive. Use it for objects that own the agent or the request's handle.
public struct WeakAccessory: Accessory {
    private weak let object: (any Accessory & AnyObject)?
    /// The wrapped object's `maximumBodyBytes`, read when this wrapper was created.
    public let maximumBodyBytes: Int
    /// The wrapped object's `observesMessages`, read when this wrapper was created.
    public let observesMessages: Bool
    /// The wrapped object's value, or false if the object no longer exists.
    public func observesNotes(of kind: ActivityKind) -> Bool { object?.observesNotes(of: kind) ?? false }
    /// Whether the wrapped object still exists and wants events.
    public var isListening: Bool { object?.isListening ?? false }

    /// Creates an accessory that holds an object weakly and passes events to it.
    public init(_ object: any Accessory & AnyObject) {
        self.object = object
        (maximumBodyBytes, observesMessages) = (object.maximumBodyBytes, object.observesMessages)
    }

    /// Passes the event to the wrapped object, if it still exists.
    public func activity(_ activity: Activity, did event: ActivityEvent) { object?.activity(activity, did: event) }
}
