import Errand
import Synchronization

/// One request that waits: until an instant, or until something has changed.
final class HostWaiter: Sendable {
    private struct State {
        var isSignalled = false
        var sleep: Task<Void, Never>?
    }

    /// Its position among the requests that wait for the host: one that the transport has sent back keeps it.
    let number: UInt64
    private let state = Mutex(State())

    init(_ number: UInt64) { self.number = number }

    /// Ends the wait, or the next one if there is none.
    func signal() {
        state.withLock { state in
            state.isSignalled = true
            return state.sleep
        }?.cancel()
    }

    /// Returns at the instant, at a signal, or when the task is cancelled.
    func wait(until instant: ContinuousClock.Instant, _ time: any TimeSource) async {
        let sleep = Task { _ = try? await time.sleep(until: instant) }
        let isSignalled = state.withLock { state in
            state.sleep = sleep
            return state.isSignalled
        }
        if isSignalled { sleep.cancel() }
        await withTaskCancellationHandler {
            await sleep.value
        } onCancel: {
            sleep.cancel()
        }
        // A signal that arrives now is not lost: its cause was changed before.
        state.withLock { $0 = State() }
    }
}
