public import Errand
public import ErrandEssentials

/// A clock that a test moves: nothing that waits by it goes on until the test says so.
///
/// ```swift
/// let time = ManualTimeSource()
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(.text("late").delayed(by: .seconds(7))), time: time)
/// let task = Task { try await agent.send(Get()) }       // its timeout is 5 seconds
/// try await time.waitForSleepers()
/// time.advance(by: .seconds(5))                          // task throws timedOut, at once
/// ```
///
/// Time never goes backwards; the ``date`` may jump. Safe to use from anywhere.
public final class ManualTimeSource: TimeSource {
    private struct Sleeper: Sendable {
        let id: UInt64
        let instant: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now: ContinuousClock.Instant
        var date: Date
        /// In the order in which they wake.
        var sleepers: [Sleeper] = []
        var lastID: UInt64 = 0
    }

    private let state: Watched<State>

    /// Starts at this moment, on a date of the test's choice: 9 September 2001, 01:46:40 UTC by default.
    public init(date: Date = Date(timeIntervalSince1970: 1_000_000_000)) {
        state = Watched(State(now: .now, date: date))
        CreationObservers.notify(of: self)
    }

    /// As far as the test has let time pass.
    public var now: ContinuousClock.Instant { state.read { $0.now } }

    /// Moves on with the time, and may be set to anything, as a user sets the clock of a device.
    public var date: Date {
        get { state.read { $0.date } }
        set { state.update { $0.date = newValue } }
    }

    /// Lets time pass and wakes the sleepers that are due, the earliest first. A negative duration does nothing; more than a
    /// hundred years are cut to that.
    public func advance(by duration: Duration) {
        let duration = min(max(duration, .zero), .seconds(3_155_760_000 as Int64))
        advance { $0.advanced(by: duration) }
    }

    /// Lets time pass until an instant; one in the past does nothing.
    public func advance(to instant: ContinuousClock.Instant) { advance { max($0, instant) } }

    private func advance(_ change: @escaping @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant) {
        let due = state.update { state in
            let then = change(state.now)
            let passed = state.now.duration(to: then).components
            state.date += Double(passed.seconds) + Double(passed.attoseconds) / 1e18
            state.now = then
            let due = state.sleepers.prefix { $0.instant <= then }
            state.sleepers.removeFirst(due.count)
            return Array(due)
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// When the next sleeper wakes; nil if none sleeps.
    public var nextWake: ContinuousClock.Instant? { state.read { $0.sleepers.first?.instant } }

    /// How many sleep.
    public var sleeperCount: Int { state.read { $0.sleepers.count } }

    /// Waits until so many sleep, so that advancing wakes them. Throws ``WaitTimeout`` after `limit` of real time.
    public func waitForSleepers(atLeast count: Int = 1, within limit: Duration = .seconds(300)) async throws {
        _ = try await state.wait(for: "\(count) sleepers", within: limit) { $0.sleepers.count >= count ? true : nil }
    }

    /// Sleeps until the test has let time pass that far. Throws `CancellationError` at once when the task is cancelled.
    public func sleep(until instant: ContinuousClock.Instant) async throws {
        let id = state.read { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isDue = state.update { state in
                    if instant <= state.now { return true }
                    // Behind those of the same instant, so that they wake in the order of their coming.
                    let place = state.sleepers.firstIndex { $0.instant > instant } ?? state.sleepers.endIndex
                    state.sleepers.insert(Sleeper(id: id, instant: instant, continuation: continuation), at: place)
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
