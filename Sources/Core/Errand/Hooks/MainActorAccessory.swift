import ErrandHTTP

/// An accessory whose closure runs on the main actor: for what belongs to a screen.
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
/// Events arrive in their order, each after the activity has gone on: a cancellation in `willStart` comes too late to
/// prevent the request. Of several values of progress that wait, the newest is delivered.
public struct MainActorAccessory: Accessory {
    private let listener: MainActorListener<Received>

    private struct Received: Sendable {
        let activity: Activity
        let event: ActivityEvent
    }

    /// Makes an accessory of a closure.
    public init(_ body: @escaping @MainActor @Sendable (Activity, ActivityEvent) -> Void) {
        listener = MainActorListener(merging: Self.merged) { body($0.activity, $0.event) }
    }

    /// Passes the event to the main actor.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        listener.receive(Received(activity: activity, event: event))
    }

    /// Progress of one activity in a row is one.
    @Sendable private static func merged(_ waiting: Received, _ newest: Received) -> Received? {
        guard case .transport(.progress) = waiting.event, case .transport(.progress) = newest.event,
            waiting.activity === newest.activity
        else { return nil }
        return newest
    }
}
