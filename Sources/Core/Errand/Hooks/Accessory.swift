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
