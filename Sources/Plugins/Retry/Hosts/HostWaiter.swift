import Errand
import Synchronization

/// A request that waits until an instant or a signal.
final class HostWaiter: Sendable {
    private struct State {
        var isSignalled = false
        var sleep: Task<Void, Never>?
    }

    /// The position in the queue, which a request keeps if the transport sends it back.
    let number: UInt64
    private let state = Mutex(State())

    init(_ number: UInt64) { self.number = number }

    /// Ends the current wait, or else the next.
    func signal() {
        state.withLock { state in
            state.isSignalled = true
            return state.sleep
        }?.cancel()
    }

    /// Waits until the instant, a signal, or cancellation of the task.
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
        // A signal that arrives now isn't lost, because the state it reports has already changed.
        state.withLock { $0 = State() }
    }
}
