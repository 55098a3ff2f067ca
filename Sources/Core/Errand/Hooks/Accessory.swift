/// Observes activities. An accessory is notified of every event and can't change anything.
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
/// Events arrive synchronously on the thread on which they happen. The events of one activity arrive in order; events
/// of several activities can arrive concurrently. Return quickly, and protect your state with a lock. Every activity
/// sends will-start, will-stop and did-stop exactly once.
///
/// The agent or the activity keeps an accessory alive. To avoid that for an object, wrap it in ``WeakAccessory``.
public protocol Accessory: Sendable {
    /// The number of body bytes to copy for this accessory. Defaults to 0, which copies nothing.
    var maximumBodyBytes: Int { get }
    /// Whether to report WebSocket messages. Defaults to false, in which case messages aren't copied.
    var observesMessages: Bool { get }
    /// Whether the accessory receives the events of an activity, read when it starts. If false, it costs nothing.
    /// Defaults to true.
    var isListening: Bool { get }
    /// Receives an event. The events of an activity arrive in order.
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
