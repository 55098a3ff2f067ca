public import Errand
import ErrandSupport
import Synchronization

/// "Loading…" where a person looks, while something is loading: an accessory that one or several agents share.
///
/// ```swift
/// let indicator = LoadingIndicator(.terminal(), label: "Loading…")
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [indicator])
///
/// for await state in indicator.states { spinner.isHidden = !state.isShown }    // on any actor
/// ```
///
/// It knows the live activities by their identities, so it neither sticks nor goes below zero. A fast answer does not
/// show it (`delay`), and what is shown stays long enough to be seen (`minimum`). What comes from a cache does not show
/// it: a request counts from the moment at which it goes to the transport, a batch or a chain from its start. Work in
/// the background is not watched. For one request or batch, give it to the call:
/// `CallOptions(accessories: [indicator])`. Safe to use from anywhere.
public final class LoadingIndicator: Accessory {
    private let time: any TimeSource
    private let watches: @Sendable (Activity) -> Bool
    private let showsCacheHits: Bool
    private let audience: LoadingAudience
    private let teller: NewsTeller<LoadingTimeline, LoadingState>
    private let timer = Mutex<(instant: ContinuousClock.Instant, task: Task<Void, Never>)?>(nil)

    /// - Parameters:
    ///   - presenters: where it appears; none is needed for ``states``.
    ///   - label: the text of those that have no ``LoadingLabel``.
    ///   - delay: how long something has to take before it is shown; 0.2 seconds by default.
    ///   - minimum: how long it is shown at least; 0.4 seconds by default.
    ///   - interval: the shortest time between two states while it is shown; 0.1 seconds by default.
    ///   - showsCacheHits: whether a request counts from its start; false by default.
    ///   - time: the clock.
    ///   - watches: which activities count, such as `{ $0.tags[Screen.self] == "feed" }`; all but background work by
    ///     default.
    public init(
        _ presenters: any LoadingPresenter..., label: String? = nil, delay: Duration = .milliseconds(200),
        minimum: Duration = .milliseconds(400), interval: Duration = .milliseconds(100), showsCacheHits: Bool = false,
        time: some TimeSource = SystemTimeSource(),
        watching watches: @escaping @Sendable (Activity) -> Bool = { $0.kind != .background }
    ) {
        self.time = time
        self.watches = watches
        self.showsCacheHits = showsCacheHits
        let audience = LoadingAudience(presenters)
        self.audience = audience
        teller = NewsTeller(
            LoadingTimeline(delay: delay, minimum: minimum, interval: interval, label: label), news: \.presented,
            tell: { audience.tell($0) })
    }

    deinit { timer.withLock { $0?.task }?.cancel() }

    /// What is shown at this moment.
    public var state: LoadingState { audience.last }

    /// What is shown, from now on: the state of this moment first; a reader that is slow gets the newest only. Ends with
    /// the indicator.
    public var states: AsyncStream<LoadingState> { audience.stream() }

    /// Hides it at once, whatever runs and whatever the minimum, and ends ``states``. Nothing is shown after that.
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
        teller.change { $0.finish() }
        await teller.allTold()
        audience.finish()
    }

    /// Counts what is watched.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart:
            guard watches(activity) else { return }
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
        var next: ContinuousClock.Instant?
        let now = time.now
        teller.change { timeline in
            change(&timeline)
            timeline.advance(to: now)
            next = timeline.next
        }
        if let next { wake(at: next) }
    }

    /// One timer, for the earliest moment: whoever it wakes looks when the next one is.
    private func wake(at instant: ContinuousClock.Instant) {
        let stale = timer.withLock { timer -> Task<Void, Never>? in
            if let timer, timer.instant <= instant { return nil }
            let stale = timer?.task
            let task = Task { [time, weak self] in
                do { try await time.sleep(until: instant) } catch { return }
                self?.ring(instant)
            }
            timer = (instant, task)
            return stale
        }
        // Not under the lock: that runs code of the time source.
        stale?.cancel()
    }

    private func ring(_ instant: ContinuousClock.Instant) {
        timer.withLock { if $0?.instant == instant { $0 = nil } }
        update { _ in }
    }
}
