import Synchronization

/// Runs an action once after each change of a revision. Later callers wait until the action has ended.
final class RevisionGate: Sendable {
    private struct State {
        var revision: Int
        var task: Task<Void, Never>?
    }

    private let state: Mutex<State>

    init(_ revision: Int) { state = Mutex(State(revision: revision)) }

    /// Runs the action if the revision has changed. Cancelling the caller doesn't cancel the action, because other
    /// callers wait for it, too.
    func pass(_ revision: Int, _ action: @escaping @Sendable () async -> Void) async {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard revision > state.revision else { return state.task }
            let last = state.task
            let task = Task {
                await last?.value
                await action()
            }
            (state.revision, state.task) = (revision, task)
            return task
        }
        guard let task else { return }
        await task.value
        state.withLock { if $0.task == task { $0.task = nil } }
    }
}
