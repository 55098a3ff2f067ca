import Errand
import Synchronization

/// Watches all transfers of a transport for inactivity with a single sleeping task. The task wakes at the earliest
/// deadline, asks each transfer for its current deadline, and sleeps again.
final class SilenceWatch: Sendable {
    private struct State: Sendable {
        var transfers: [ObjectIdentifier: any SilenceWatched] = [:]
        var wake: ContinuousClock.Instant?
        var sleeper: Task<Void, Never>?
    }

    private let time: any TimeSource
    private let state = Mutex(State())

    private static let step = Duration.milliseconds(20)

    init(time: any TimeSource) { self.time = time }

    deinit { state.withLock(\.sleeper)?.cancel() }

    var count: Int { state.withLock { $0.transfers.count } }

    func add(_ transfer: any SilenceWatched, deadline: ContinuousClock.Instant) {
        let stale = state.withLock { state in
            state.transfers[ObjectIdentifier(transfer)] = transfer
            return sleep(&state, until: deadline)
        }
        stale?.cancel()
    }

    func remove(_ transfer: any SilenceWatched) {
        let removed = state.withLock { $0.transfers.removeValue(forKey: ObjectIdentifier(transfer)) }
        // This may be the last reference, so release it outside the lock.
        withExtendedLifetime(removed) {}
    }

    /// Starts a task that sleeps until a deadline, and returns the task that it replaces. Cancel that task outside the
    /// lock, because cancelling runs the time source's code.
    private func sleep(_ state: inout State, until deadline: ContinuousClock.Instant) -> Task<Void, Never>? {
        if let wake = state.wake, wake <= deadline { return nil }
        let stale = state.sleeper
        state.wake = deadline
        state.sleeper = Task { [weak self, time] in
            await time.wait(until: deadline)
            if !Task.isCancelled { self?.wake(deadline) }
        }
        return stale
    }

    private func wake(_ deadline: ContinuousClock.Instant) {
        let transfers = state.withLock { state -> [any SilenceWatched] in
            guard state.wake == deadline else { return [] }
            (state.wake, state.sleeper) = (nil, nil)
            return Array(state.transfers.values)
        }
        let now = time.now
        var next: ContinuousClock.Instant?
        for transfer in transfers {
            // Remove a transfer that has ended, because it may have been added after its end.
            guard let deadline = transfer.endIfSilent(now: now) else {
                remove(transfer)
                continue
            }
            next = min(next ?? deadline, deadline)
        }
        guard let next else { return }
        let stale = state.withLock { sleep(&$0, until: max(next, now + Self.step)) }
        stale?.cancel()
    }
}

protocol SilenceWatched: AnyObject, Sendable {
    /// Ends the transfer if its deadline has passed. Returns its current deadline, or `nil` if the transfer has ended.
    func endIfSilent(now: ContinuousClock.Instant) -> ContinuousClock.Instant?
}
