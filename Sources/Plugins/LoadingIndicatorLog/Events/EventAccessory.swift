public import Errand
import Synchronization

/// An accessory that calls closures for the events of a single request, batch or chain.
///
/// ```swift
/// let events = EventAccessory(
///     willStart: { print("begins") }, success: { _ in print("arrived") }, failure: { print($0) },
///     didStop: { print("over") })
/// agent.start(GetUser(id: 7), options: CallOptions(accessories: [events]))
/// ```
///
/// The accessory belongs to the first activity that starts with it, and ignores later activities. It calls each closure
/// at most once, except `progress`, and releases the closures that it can't call anymore.
///
/// At the end of the activity, the accessory calls closures in this order:
///
/// - `willStop`, before the delegate and the completion.
/// - One of `success`, `failure` and `cancelled`.
/// - `didStop`, after the delegate and the completion.
///
/// Closures run on the event's thread. If you need the main actor, use
/// ``onMain(willStart:progress:willStop:success:failure:cancelled:didStop:)``.
public final class EventAccessory: Accessory {
    private struct State {
        var owner: Activity.ID?
        var willStart: (@Sendable () -> Void)?
        var progress: (@Sendable (TransferProgress) -> Void)?
        var willStop: (@Sendable () -> Void)?
        var success: (@Sendable (HTTPResponse?) -> Void)?
        var failure: (@Sendable (any Error) -> Void)?
        var cancelled: (@Sendable (CancellationCause) -> Void)?
        var didStop: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    /// Creates an accessory.
    ///
    /// - Parameters:
    ///   - willStart: Called synchronously, on the thread that starts the activity.
    ///   - progress: Called for each progress update.
    ///   - willStop: Called when it's known how the activity ends.
    ///   - success: Receives the response to a request. For a batch or chain, receives nil.
    ///   - failure: Receives the error if the activity failed.
    ///   - cancelled: Receives the cause if the activity was cancelled.
    ///   - didStop: Called after the delegate and the completion.
    public init(
        willStart: (@Sendable () -> Void)? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil,
        willStop: (@Sendable () -> Void)? = nil, success: (@Sendable (HTTPResponse?) -> Void)? = nil,
        failure: (@Sendable (any Error) -> Void)? = nil, cancelled: (@Sendable (CancellationCause) -> Void)? = nil,
        didStop: (@Sendable () -> Void)? = nil
    ) {
        state = Mutex(
            State(
                willStart: willStart, progress: progress, willStop: willStop, success: success, failure: failure,
                cancelled: cancelled, didStop: didStop))
    }

    /// Creates an accessory whose closures run on the main actor, in the order of the events.
    ///
    /// The closure `willStart` runs after the activity has started. If several progress updates are waiting for the
    /// main actor, only the newest update is delivered.
    public static func onMain(
        willStart: (@MainActor @Sendable () -> Void)? = nil,
        progress: (@MainActor @Sendable (TransferProgress) -> Void)? = nil,
        willStop: (@MainActor @Sendable () -> Void)? = nil,
        success: (@MainActor @Sendable (HTTPResponse?) -> Void)? = nil,
        failure: (@MainActor @Sendable (any Error) -> Void)? = nil,
        cancelled: (@MainActor @Sendable (CancellationCause) -> Void)? = nil,
        didStop: (@MainActor @Sendable () -> Void)? = nil
    ) -> EventAccessory {
        let main = MainActorListener<Moment>(merging: Moment.merged) { moment in
            switch moment {
            case .progress(let value): progress?(value)
            case .other(let body): body()
            }
        }
        let report: @Sendable (TransferProgress) -> Void = { main.receive(.progress($0)) }
        return EventAccessory(
            willStart: plain(willStart, main), progress: progress == nil ? nil : report,
            willStop: plain(willStop, main), success: passing(success, main), failure: passing(failure, main),
            cancelled: passing(cancelled, main), didStop: plain(didStop, main))
    }

    private static func plain(
        _ call: (@MainActor @Sendable () -> Void)?, _ main: MainActorListener<Moment>
    ) -> (@Sendable () -> Void)? {
        guard let call else { return nil }
        return { main.receive(.other(call)) }
    }

    private static func passing<Value: Sendable>(
        _ call: (@MainActor @Sendable (Value) -> Void)?, _ main: MainActorListener<Moment>
    ) -> (@Sendable (Value) -> Void)? {
        guard let call else { return nil }
        return { value in main.receive(.other { call(value) }) }
    }

    private enum Moment: Sendable {
        case progress(TransferProgress)
        case other(@MainActor @Sendable () -> Void)

        @Sendable static func merged(_ waiting: Moment, _ newest: Moment) -> Moment? {
            if case .progress = waiting, case .progress = newest { return newest }
            return nil
        }
    }

    /// Calls the event's closure. The agent calls this method.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        call(for: event, of: activity.id)?()
    }

    /// Returns the closure for an event. The caller runs it after unlocking.
    private func call(for event: ActivityEvent, of id: Activity.ID) -> (@Sendable () -> Void)? {
        state.withLock { state in
            if case .willStart = event, state.owner == nil { state.owner = id }
            guard state.owner == id else { return nil }
            switch event {
            case .willStart: return state.willStart.take()
            case .transport(.progress(let progress)):
                return state.progress.map { call in { @Sendable in call(progress) } }
            case .willStop(let outcome):
                state.progress = nil
                return Self.end(outcome, &state)
            case .didStop: return state.didStop.take()
            default: return nil
            }
        }
    }

    private static func end(_ outcome: ActivityOutcome, _ state: inout State) -> @Sendable () -> Void {
        let (willStop, success) = (state.willStop.take(), state.success.take())
        let (failure, cancelled) = (state.failure.take(), state.cancelled.take())
        return {
            willStop?()
            switch outcome {
            case .success(let response): success?(response)
            case .failure(let error): failure?(error)
            case .cancelled(let cause): cancelled?(cause)
            }
        }
    }
}
