import ErrandHTTP

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
