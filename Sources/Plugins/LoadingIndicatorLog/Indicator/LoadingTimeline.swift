import Errand

/// Computes the indicator's visible state from events and from times that the caller passes. If an activity is started
/// twice, it counts once. The end of an unknown activity is ignored.
struct LoadingTimeline: Sendable {
    /// The type of times. It isn't an instant, because an optional instant would cost a runtime call.
    typealias Time = Duration

    private struct Live: Sendable {
        let parent: Activity.ID?
        let label: String?
        let order: UInt64
        var counts: Bool
        var progress: TransferProgress?
    }

    let delay: Duration
    let minimum: Duration
    let interval: Duration
    let label: String?

    private(set) var presented = LoadingState.hidden
    private var live: [Activity.ID: Live] = [:]
    private var counted = 0
    private var order: UInt64 = 0
    /// The time since which at least one counted activity has been running.
    private var since: Time?
    private var shownAt: Time?
    private var presentedAt: Time?
    private var isDirty = false
    private var isFinished = false

    init(delay: Duration, minimum: Duration, interval: Duration, label: String?) {
        (self.delay, self.minimum) = (max(delay, .zero), max(minimum, .zero))
        (self.interval, self.label) = (max(interval, .zero), label)
    }

    /// Adds an activity. If `counts` is false, the activity counts only after ``count(_:)`` is called.
    mutating func start(_ id: Activity.ID, parent: Activity.ID?, label: String?, counts: Bool) {
        guard live[id] == nil, !isFinished else { return }
        order += 1
        live[id] = Live(parent: parent, label: label, order: order, counts: false)
        if counts { count(id) }
    }

    mutating func count(_ id: Activity.ID) {
        guard let one = live[id], !one.counts else { return }
        live[id]?.counts = true
        counted += 1
        isDirty = true
    }

    mutating func progress(_ id: Activity.ID, _ progress: TransferProgress) {
        guard live[id] != nil else { return }
        live[id]?.progress = progress
        isDirty = true
    }

    mutating func end(_ id: Activity.ID) {
        guard let one = live.removeValue(forKey: id) else { return }
        if one.counts { counted -= 1 }
        isDirty = true
    }

    mutating func finish() {
        isFinished = true
        (live, counted, since, shownAt, presentedAt) = ([:], 0, nil, nil, nil)
        presented = .hidden
    }

    mutating func advance(to now: Time) {
        since = counted == 0 ? nil : since ?? now
        if let shownAt {
            if counted == 0, now >= shownAt + minimum {
                self.shownAt = nil
                presented = .hidden
                presentedAt = nil
            }
        } else if let since, now >= since + delay {
            shownAt = now
            isDirty = true
        }
        guard shownAt != nil, isDirty, counted > 0, presentedAt.map({ now >= $0 + interval }) ?? true
        else { return }
        presented = state
        presentedAt = now
        isDirty = false
    }

    var next: Time? {
        if let shownAt {
            if counted == 0 { return shownAt + minimum }
            return isDirty ? presentedAt.map { $0 + interval } : nil
        }
        return since.map { $0 + delay }
    }

    private var state: LoadingState {
        var newest: (order: UInt64, label: String)?
        var (running, done): (Int, Double?) = (0, 0)
        for one in live.values where one.counts {
            if let label = one.label, one.order > newest?.order ?? 0 { newest = (one.order, label) }
            if let parent = one.parent, live[parent]?.counts == true { continue }
            running += 1
            let part = one.progress.flatMap(Self.fraction)
            done = done.flatMap { done in part.map { done + $0 } }
        }
        return LoadingState(
            isShown: true, label: newest?.label ?? label, running: running,
            fraction: running == 0 ? nil : done.map { $0 / Double(running) })
    }

    private static func fraction(_ progress: TransferProgress) -> Double? {
        if let fraction = progress.fraction { return fraction.isFinite ? min(max(fraction, 0), 1) : nil }
        guard let total = progress.totalToReceive, total > 0 else { return nil }
        return Double(min(max(progress.received, 0), total)) / Double(total)
    }
}
