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
    /// The number of body bytes to copy for this accessory. Defaults to 0.
    var maximumBodyBytes: Int { get }
    /// Whether to report WebSocket messages. Defaults to false, which doesn't copy messages.
    var observesMessages: Bool { get }
    /// Whether to receive an activity's events, read when it starts. If false, the accessory costs no time. Defaults to
    /// true.
    var isListening: Bool { get }
    /// Receives an event. Events of an activity arrive in order.
    func activity(_ activity: Activity, did event: ActivityEvent)
}

extension Accessory {
    /// Defaults to 0.
    public var maximumBodyBytes: Int { 0 }
    /// Defaults to false.
    public var observesMessages: Bool { false }
    /// Defaults to true.
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

    /// Creates an accessory with a closure.
    public init(_ body: @escaping @MainActor @Sendable (Activity, ActivityEvent) -> Void) {
        listener = MainActorListener(merging: Self.merged) { body($0.activity, $0.event) }
    }

    /// Passes the event to the main actor.
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

/// An accessory that doesn't keep its object alive, for objects that own the agent or the handle.
public struct WeakAccessory: Accessory {
    private weak let object: (any Accessory & AnyObject)?
    /// The object's value.
    public let maximumBodyBytes: Int
    /// The object's value.
    public let observesMessages: Bool
    /// Whether the object exists and is listening.
    public var isListening: Bool { object?.isListening ?? false }

    /// Creates an accessory with a weak reference.
    public init(_ object: any Accessory & AnyObject) {
        self.object = object
        (maximumBodyBytes, observesMessages) = (object.maximumBodyBytes, object.observesMessages)
    }

    /// Passes the event to the object, if it exists.
    public func activity(_ activity: Activity, did event: ActivityEvent) { object?.activity(activity, did: event) }
}
