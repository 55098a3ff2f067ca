import ErrandHTTP

/// Observes the events of activities.
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
/// Events arrive on the thread on which they happen: in order for one activity, concurrently for several. Return
/// quickly, and protect your state with a lock. Every activity sends will-start, will-stop and did-stop exactly once.
/// An object that the agent and the call both have receives each event once.
///
/// The agent or activity keeps an accessory alive. To hold an object weakly, wrap it in ``WeakAccessory``.
public protocol Accessory: Sendable {
    /// The most bytes of each request and response body to copy for this accessory. Defaults to 0.
    var maximumBodyBytes: Int { get }
    /// Whether to report WebSocket messages and events of event streams. Defaults to false.
    ///
    /// If 1,024 events wait for a slow accessory, further messages are dropped, and a note has their number.
    var observesMessages: Bool { get }
    /// Whether to receive filters' notes in activities of this kind. Read once for each
    /// activity, when it starts. Defaults to true.
    func observesNotes(of kind: ActivityKind) -> Bool
    /// Whether to receive events. Read once for each activity, when it starts. Defaults to true.
    var isListening: Bool { get }
    /// Receives an event. Return quickly.
    func activity(_ activity: Activity, did event: ActivityEvent)
}

extension Accessory {
    /// Returns 0.
    public var maximumBodyBytes: Int { 0 }
    /// Returns false.
    public var observesMessages: Bool { false }
    /// Returns true.
    public func observesNotes(of kind: ActivityKind) -> Bool { true }
    /// Returns true.
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
/// Events arrive in order, but the activity doesn't wait for them: cancelling in `willStart` is too late to prevent the
/// request. Only the newest of several waiting progress values is delivered.
public struct MainActorAccessory: Accessory {
    private let listener: MainActorListener<Received>

    private struct Received: Sendable {
        let activity: Activity
        let event: ActivityEvent
    }

    /// Creates an accessory from a closure.
    public init(_ body: @escaping @MainActor @Sendable (Activity, ActivityEvent) -> Void) {
        listener = MainActorListener(merging: Self.merged) { body($0.activity, $0.event) }
    }

    /// Passes the event to the closure. Returns before the closure runs.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        listener.receive(Received(activity: activity, event: event))
    }

    @Sendable private static func merged(_ waiting: Received, _ newest: Received) -> Received? {
        guard case .transport(.progress) = waiting.event, case .transport(.progress) = newest.event,
            waiting.activity === newest.activity
        else { return nil }
        return newest
    }
}

/// Wraps another accessory without keeping it alive. Use it for an object that owns the agent or the request's handle,
/// to avoid a reference cycle.
public struct WeakAccessory: Accessory {
    private weak let object: (any Accessory & AnyObject)?
    /// The most body bytes to copy: the wrapped accessory's `maximumBodyBytes` when this wrapper was created.
    public let maximumBodyBytes: Int
    /// Whether to report messages: the wrapped accessory's `observesMessages` when this wrapper was created.
    public let observesMessages: Bool
    /// Returns the wrapped accessory's value, or false once that accessory is deallocated.
    public func observesNotes(of kind: ActivityKind) -> Bool { object?.observesNotes(of: kind) ?? false }
    /// Whether the wrapped accessory still exists and wants events.
    public var isListening: Bool { object?.isListening ?? false }

    /// Creates an accessory that passes events to another accessory without keeping it alive.
    public init(_ object: any Accessory & AnyObject) {
        self.object = object
        (maximumBodyBytes, observesMessages) = (object.maximumBodyBytes, object.observesMessages)
    }

    /// Passes the event to the wrapped accessory, if it still exists.
    public func activity(_ activity: Activity, did event: ActivityEvent) { object?.activity(activity, did: event) }
}

extension WeakAccessory {
    fileprivate var identity: ObjectIdentifier? { object.map { ObjectIdentifier($0) } }
}

extension [any Accessory] {
    /// The list in which each object occurs once. An agent and a call may have the same object, which would otherwise
    /// count each event twice.
    var withoutRepetitions: [any Accessory] {
        if count < 2 { return self }
        var known = Set<ObjectIdentifier>()
        let kept = filter { accessory in
            var identity = (accessory as? WeakAccessory)?.identity
            if type(of: accessory) is AnyClass { identity = ObjectIdentifier(accessory as AnyObject) }
            return identity.map { known.insert($0).inserted } ?? true
        }
        return kept.count == count ? self : kept
    }
}
