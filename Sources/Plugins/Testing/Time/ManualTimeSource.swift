public import Errand
public import ErrandEssentials

/// A clock that moves only when the test advances it. A task that sleeps on this clock waits until the test advances
/// the clock far enough.
///
/// ```swift
/// let time = ManualTimeSource()
/// let late = StubResponse.text("late").delayed(by: .seconds(7))
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(late), time: time)
/// let task = Task { try await agent.send(Get()) }       // its timeout is 5 seconds
/// try await time.waitForSleepers()
/// time.advance(by: .seconds(5))                          // the task throws timedOut
/// ```
///
/// You can use the clock from any thread. Its time never goes backwards, but you can set its ``date`` freely.
public final class ManualTimeSource: TimeSource {
    private struct Sleeper: Sendable {
        let id: UInt64
        let instant: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now: ContinuousClock.Instant
        var date: Date
        /// The sleeping tasks, in the order in which they wake.
        var sleepers: [Sleeper] = []
        var lastID: UInt64 = 0
    }

    private let state: Watched<State>

    /// Creates a clock. Its instant is the current instant. Its `date` defaults to 9 September 2001, 01:46:40 UTC.
    public init(date: Date = Date(timeIntervalSince1970: 1_000_000_000)) {
        state = Watched(State(now: .now, date: date))
        CreationObservers.notify(of: self)
    }

    /// The clock's current instant.
    public var now: ContinuousClock.Instant { state.read { $0.now } }

    /// The calendar date. It advances with the clock. You can also set it, as users can set the date of a device.
    public var date: Date {
        get { state.read { $0.date } }
        set { state.update { $0.date = newValue } }
    }

    /// Advances the clock, and wakes the tasks whose time has come, the earliest first. Negative durations are ignored.
    /// The clock advances by at most 100 years.
    public func advance(by duration: Duration) {
        advance { $0.advanced(by: duration.bounded) }
    }

    /// Advances the clock to an instant. Earlier instants are ignored.
    public func advance(to instant: ContinuousClock.Instant) { advance { max($0, instant) } }

    private func advance(_ change: @escaping @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant) {
        let due = state.update { state in
            let then = change(state.now)
            state.date += state.now.duration(to: then) / .seconds(1)
            state.now = then
            let due = state.sleepers.prefix { $0.instant <= then }
            state.sleepers.removeFirst(due.count)
            return Array(due)
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// The instant at which the next task wakes. It's `nil` if tasks aren't sleeping on the clock.
    public var nextWake: ContinuousClock.Instant? { state.read { $0.sleepers.first?.instant } }

    /// The number of tasks that sleep on the clock.
    public var sleeperCount: Int { state.read { $0.sleepers.count } }

    /// Waits until at least `count` tasks sleep on the clock. Throws ``WaitTimeout`` after `limit` of real time.
    public func waitForSleepers(atLeast count: Int = 1, within limit: Duration = .seconds(300)) async throws {
        _ = try await state.wait(for: "\(count) sleepers", within: limit) { $0.sleepers.count >= count ? true : nil }
    }

    /// Sleeps until the clock reaches an instant. Throws `CancellationError` if the task is cancelled.
    public func sleep(until instant: ContinuousClock.Instant) async throws {
        let id = state.read { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isDue = state.update { state in
                    if instant <= state.now { return true }
                    // Tasks that sleep until the same instant wake in the order of their arrival.
                    let index = state.sleepers.firstIndex { $0.instant > instant } ?? state.sleepers.endIndex
                    state.sleepers.insert(Sleeper(id: id, instant: instant, continuation: continuation), at: index)
                    return false
                }
                if isDue {
                    Task.isCancelled ? continuation.resume(throwing: CancellationError()) : continuation.resume()
                } else if Task.isCancelled {
                    wake(id)
                }
            }
        } onCancel: {
            wake(id)
        }
    }

    private func wake(_ id: UInt64) {
        let sleeper = state.update { state in
            state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
