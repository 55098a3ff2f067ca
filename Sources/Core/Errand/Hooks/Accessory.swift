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
/// Called synchronously, on the thread on which the event happens, in order for one activity, for several activities at
/// once: keep it short and its state behind a lock. Every activity that will start will stop and did stop, exactly
/// once. An accessory is held for as long as its agent or activity is; wrap an object that should not be in
/// ``WeakAccessory``.
public protocol Accessory: Sendable {
    /// Bytes of each body that it wants copies of; 0 by default, and then no body is touched for it.
    var maximumBodyBytes: Int { get }
    /// Whether it wants the messages of WebSockets; false by default, and then no message is touched for it.
    var observesMessages: Bool { get }
    /// Read when an activity starts; one that is false receives no event of it, and costs nothing. True by default.
    var isListening: Bool { get }
    /// Receives an event, in the order in which the events of the activity happen.
    func activity(_ activity: Activity, did event: ActivityEvent)
}

extension Accessory {
    /// None.
    public var maximumBodyBytes: Int { 0 }
    /// False.
    public var observesMessages: Bool { false }
    /// True.
    public var isListening: Bool { true }
}
