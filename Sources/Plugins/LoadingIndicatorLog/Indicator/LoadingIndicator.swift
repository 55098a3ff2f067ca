public import Errand
import ErrandStates
import ErrandSupport
import Synchronization

/// An accessory that shows a loading indicator while one or several agents load something.
///
/// ```swift
/// let indicator = LoadingIndicator(.terminal(), label: "Loading…")
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [indicator])
///
/// for await state in indicator.states { spinner.isHidden = !state.isShown }    // on any actor
/// ```
///
/// Fast responses don't show the indicator, because it appears after a `delay`. Once it appears, it stays long enough
/// to be seen (`minimumDuration`).
///
/// A request counts from the time when it reaches the transport, so cached responses don't show the indicator. A batch
/// or chain counts from its start. Background work and live streams don't count, but the requests that connect a stream
/// do.
///
/// To show the indicator only for some requests, pass it to their calls: `CallOptions(accessories: [indicator])`. You
/// can use an indicator from any thread.
public final class LoadingIndicator: Accessory {
    private let time: any TimeSource
    private let isIncluded: @Sendable (Activity) -> Bool
    private let showsCacheHits: Bool
    private let observers: LoadingObservers
    private let notifier: LatestValueNotifier<LoadingTimeline, LoadingState>
    private let origin: ContinuousClock.Instant
    private let timer = Mutex<(wake: Duration, task: Task<Void, Never>)?>(nil)

    /// Creates an indicator.
    ///
    /// - Parameters:
    ///   - presenters: The views that display the indicator. You don't need any if you read ``states``.
    ///   - label: The text for activities without a ``LoadingLabel``.
    ///   - delay: How long an activity runs before the indicator appears. Defaults to 0.2 seconds.
    ///   - minimumDuration: The minimum time for which the indicator stays visible. Defaults to 0.4 seconds.
    ///   - interval: The minimum time between two visible states. Defaults to 0.1 seconds.
    ///   - showsCacheHits: Whether a request already counts from its start, even if its response comes from a cache.
    ///     Defaults to false.
    ///   - time: The clock.
    ///   - isIncluded: Returns whether an activity counts, such as `{ $0.tags[Screen.self] == "feed" }`. By default,
    ///     all count except background work and streams.
    public init(
        _ presenters: any LoadingPresenter..., label: String? = nil, delay: Duration = .milliseconds(200),
        minimumDuration: Duration = .milliseconds(400), interval: Duration = .milliseconds(100),
        showsCacheHits: Bool = false,
        time: some TimeSource = SystemTimeSource(),
        watching isIncluded: @escaping @Sendable (Activity) -> Bool = { $0.kind != .background && $0.kind != .stream }
    ) {
        self.time = time
        origin = time.now
        self.isIncluded = isIncluded
        self.showsCacheHits = showsCacheHits
        let observers = LoadingObservers(presenters)
        self.observers = observers
        notifier = LatestValueNotifier(
            LoadingTimeline(delay: delay, minimum: minimumDuration, interval: interval, label: label),
            value: \.presented,
            notify: { observers.notify($0) })
    }

    deinit { timer.withLock { $0?.task }?.cancel() }

    /// The state to show now. To be told about changes, read ``states``.
    public var state: LoadingState { observers.last }

    /// A sequence of the current state and every later state. A slow reader gets only the latest state. The sequence
    /// ends when the indicator is finished or released.
    public var states: AsyncStream<LoadingState> { observers.states }

    /// Hides the indicator at once and permanently, and ends ``states``.
    ///
    /// Call this method before a command-line program ends, to remove the spinner from the terminal:
    ///
    /// ```swift
    /// let indicator = LoadingIndicator(.terminal())
    /// …
    /// await indicator.finish()
    /// ```
    ///
    /// When this method returns, each presenter has received `.hidden`, and its ``LoadingPresenter/finish()`` has been
    /// called.
    public func finish() async {
        let stale = timer.withLock { timer in
            defer { timer = nil }
            return timer?.task
        }
        stale?.cancel()
        notifier.change { $0.finish() }
        await notifier.allDelivered()
        observers.finish()
    }

    /// Returns false, because the indicator doesn't show notes.
    public func observesNotes(of kind: ActivityKind) -> Bool { false }

    /// Updates the indicator. The agent calls this method.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart:
            guard isIncluded(activity) else { return }
            let counts = showsCacheHits || activity.kind != .request
            let label = activity.tags[LoadingLabel.self]
            update { $0.start(activity.id, parent: activity.parent, label: label, counts: counts) }
        case .sending: update { $0.count(activity.id) }
        case .transport(.progress(let progress)): update { $0.progress(activity.id, progress) }
        case .willStop: update { $0.end(activity.id) }
        default: break
        }
    }

    private func update(_ change: (inout LoadingTimeline) -> Void) {
        var next: Duration?
        let now = origin.duration(to: time.now)
        notifier.change { timeline in
            change(&timeline)
            timeline.advance(to: now)
            next = timeline.next
        }
        if let next { wake(at: next) }
    }

    private func wake(at wake: Duration) {
        let stale = timer.withLock { timer -> Task<Void, Never>? in
            if let timer, timer.wake <= wake { return nil }
            let stale = timer?.task
            let task = Task { [time, origin, weak self] in
                do { try await time.sleep(until: origin.advanced(by: wake)) } catch { return }
                self?.timerFired(wake)
            }
            timer = (wake, task)
            return stale
        }
        // The timer is cancelled after unlocking, because cancelling runs the time source's code.
        stale?.cancel()
    }

    private func timerFired(_ wake: Duration) {
        timer.withLock { if $0?.wake == wake { $0 = nil } }
        update { _ in }
    }
}

extension LoadingIndicator {
    /// Passes the current state and every later state to a view, on the main actor.
    ///
    /// ```swift
    /// @MainActor func viewDidLoad() {
    ///     indicator.follow(spinner) { spinner, state in spinner.isHidden = !state.isShown }
    /// }
    /// ```
    ///
    /// The indicator holds the view weakly, so you can pass the view controller itself. The returned task ends when you
    /// cancel it, when the indicator ends, or at the first change of state after the view is released.
    @MainActor @discardableResult
    public func follow<View: AnyObject>(
        _ view: View, _ change: @escaping @MainActor (View, LoadingState) -> Void
    ) -> Task<Void, Never> {
        let states = states
        return Task { [weak view] in
            for await state in states {
                guard let view else { return }
                change(view, state)
            }
        }
    }
}

final class LoadingObservers: Sendable {
    private let presenters: [any LoadingPresenter]
    private let broadcaster = StateBroadcaster(LoadingState.hidden)

    init(_ presenters: [any LoadingPresenter]) { self.presenters = presenters }

    var last: LoadingState { broadcaster.state }

    var states: AsyncStream<LoadingState> { broadcaster.states }

    /// Passes a new state to the observers. Called on one thread at a time.
    func notify(_ new: LoadingState) {
        if last == new { return }
        broadcaster.send(new)
        for presenter in presenters { presenter.present(new) }
    }

    func finish() {
        broadcaster.finish()
        for presenter in presenters { presenter.finish() }
    }
}

/// The state of a loading indicator.
public struct LoadingState: Sendable, Hashable {
    /// Whether to show the indicator.
    public var isShown = false
    /// The text to show. It's the ``LoadingLabel`` of the newest activity that has such a label, or else the
    /// indicator's own label.
    public var label: String?
    /// The number of running activities. A batch or chain counts as one activity, including its parts.
    public var running = 0
    /// The average progress of all running activities, from 0 to 1. It's nil if an activity's total is unknown.
    public var fraction: Double?

    /// The state of a hidden indicator.
    public static let hidden = LoadingState()

    /// Creates a state, for testing a presenter.
    public init(isShown: Bool = false, label: String? = nil, running: Int = 0, fraction: Double? = nil) {
        (self.isShown, self.label, self.running, self.fraction) = (isShown, label, running, fraction)
    }
}

/// A type that displays the loading indicator, for example on a screen.
///
/// ```swift
/// struct Bell: LoadingPresenter {
///     func present(_ state: LoadingState) { if !state.isShown { print("\u{7}done") } }
/// }
/// ```
///
/// A presenter receives states one at a time and in order, on the thread that changed the state. It must return
/// quickly. If you need the main actor, read ``LoadingIndicator/states`` instead of writing a presenter.
public protocol LoadingPresenter: Sendable {
    /// Shows the state. If ``LoadingState/isShown`` is false, hides the indicator.
    func present(_ state: LoadingState)
    /// Removes the indicator from the display. ``LoadingIndicator/finish()`` calls this method after the last state.
    /// Implementing it is optional.
    func finish()
}

extension LoadingPresenter {
    /// Does nothing, because the presenter has already received `.hidden`.
    public func finish() {}
}

/// A tag that sets the indicator's text for a request, batch or chain.
///
/// ```swift
/// var tags: Tags { Tags().with(LoadingLabel.self, "Looking for flights…") }
/// ```
public enum LoadingLabel: TagKey {
    /// The default value, nil, shows the indicator's own label.
    public static let defaultValue: String? = nil
}
