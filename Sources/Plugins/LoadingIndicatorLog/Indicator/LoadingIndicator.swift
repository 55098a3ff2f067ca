public import Errand
import ErrandSupport
import Synchronization

/// Shows "Loading…" while something is loading: an accessory that one or several agents share.
///
/// ```swift
/// let indicator = LoadingIndicator(.terminal(), label: "Loading…")
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [indicator])
///
/// for await state in indicator.states { spinner.isHidden = !state.isShown }    // on any actor
/// ```
///
/// It counts running activities by their identities, so it neither sticks nor counts below zero. A fast response does
/// not show it (`delay`), and once shown it stays long enough to be seen (`minimumDuration`). A response from a cache does not
/// show it: a request counts from the moment at which it reaches the transport, a batch or a chain from its start.
/// Background work does not count. Neither does a live stream, only the requests that connect it. To show the indicator
/// for one request or batch, pass it to the call: `CallOptions(accessories: [indicator])`. Safe to use from any thread.
public final class LoadingIndicator: Accessory {
    private let time: any TimeSource
    private let isIncluded: @Sendable (Activity) -> Bool
    private let showsCacheHits: Bool
    private let observers: LoadingObservers
    private let notifier: LatestValueNotifier<LoadingTimeline, LoadingState>
    private let origin: ContinuousClock.Instant
    private let timer = Mutex<(wake: Duration, task: Task<Void, Never>)?>(nil)

    /// - Parameters:
    ///   - presenters: the views that display it; none is needed for ``states``.
    ///   - label: the text for activities without a ``LoadingLabel``.
    ///   - delay: the time that an activity runs before the indicator is shown; 0.2 seconds by default.
    ///   - minimumDuration: the minimum time for which the indicator is shown; 0.4 seconds by default.
    ///   - interval: the minimum time between two states while it is shown; 0.1 seconds by default.
    ///   - showsCacheHits: whether a request counts from its start; false by default.
    ///   - time: the clock.
    ///   - isIncluded: which activities count, such as `{ $0.tags[Screen.self] == "feed" }`; all but background work
    ///     and streams by default.
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

    /// The current state.
    public var state: LoadingState { observers.last }

    /// The states from now on: the current one first, then each new one; a slow reader receives only the latest. Ends
    /// with the indicator.
    public var states: AsyncStream<LoadingState> { observers.states }

    /// Hides the indicator at once, whatever runs and whatever the minimum, and ends ``states``. It is not shown again.
    ///
    /// A command line program calls it before it ends, so that no spinner stays on the terminal:
    ///
    /// ```swift
    /// let indicator = LoadingIndicator(.terminal())
    /// …
    /// await indicator.finish()
    /// ```
    ///
    /// Every presenter has received `.hidden` and its own ``LoadingPresenter/finish()`` when it returns.
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

    /// Counts the activities that are included.
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

    /// Sets the one timer to an earlier instant; the next check of the state computes the following one.
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
        // Not under the lock: that runs code of the time source.
        stale?.cancel()
    }

    private func timerFired(_ wake: Duration) {
        timer.withLock { if $0?.wake == wake { $0 = nil } }
        update { _ in }
    }
}

extension LoadingIndicator {
    /// Passes each state to a view, now and after each change, on the main actor, for as long as the view exists.
    ///
    /// ```swift
    /// @MainActor func viewDidLoad() {
    ///     indicator.follow(spinner) { spinner, state in spinner.isHidden = !state.isShown }
    /// }
    /// ```
    ///
    /// The view is held weakly: it may be the view controller itself. The returned task ends with the indicator, with
    /// the first change after the view's end, or when it is cancelled.
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

/// The receivers of visible states: presenters, and streams for as long as they have a reader.
final class LoadingObservers: Sendable {
    private let presenters: [any LoadingPresenter]
    private let broadcaster = StateBroadcaster(LoadingState.hidden)

    init(_ presenters: [any LoadingPresenter]) { self.presenters = presenters }

    var last: LoadingState { broadcaster.state }

    /// The current state, then the latest one whenever the reader asks.
    var states: AsyncStream<LoadingState> { broadcaster.states }

    /// Called on one thread at a time.
    func notify(_ new: LoadingState) {
        if last == new { return }
        broadcaster.send(new)
        for presenter in presenters { presenter.present(new) }
    }

    /// Ends the streams, then the presenters.
    func finish() {
        broadcaster.finish()
        for presenter in presenters { presenter.finish() }
    }
}
