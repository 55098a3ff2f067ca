import ErrandHTTP
import Synchronization

/// The members of one activity that run: counted, and ended with it.
final class MemberScope: Sendable {
    private struct State {
        var count = 0
        /// Members that are awaited, or being started.
        var sending = 0
        /// Members that were started, and may run without being awaited.
        var started: [Activity.ID: Activity] = [:]
        var isClosed = false
        /// One at most; an array, which costs less to look at than an optional.
        var waiters: [CheckedContinuation<Void, Never>] = []

        var isEmpty: Bool { sending == 0 && started.isEmpty }
    }

    private let activity: Activity
    private let state = Mutex(State())

    init(_ activity: Activity) { self.activity = activity }

    /// Throws if the activity has ended or was cancelled.
    func check() throws { try state.withLock { try check($0) } }

    private func check(_ state: borrowing State) throws {
        if state.isClosed || activity.isOver {
            throw ErrandError(.activityEnded, "the \(activity.kind) had ended before this was sent")
        }
        if activity.isCancelled { throw CancellationError() }
    }

    /// The place of the next member; ``end()`` follows.
    func begin() throws -> Int {
        try state.withLock { state in
            try check(state)
            defer { (state.count, state.sending) = (state.count + 1, state.sending + 1) }
            return state.count
        }
    }

    func end() { leave { $0.sending -= 1 } }

    /// Refuses further members, cancels what was started and still runs, and waits for the end of that and of what is
    /// being sent.
    func close() async {
        let isEmpty = state.withLock { state in
            state.isClosed = true
            return state.isEmpty
        }
        if isEmpty { return }
        cancelAll()
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if !state.isEmpty { state.waiters = [continuation] }
                return state.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }

    /// Cancels what was started: the activity's own task does not.
    func cancelAll() { for member in state.withLock({ Array($0.started.values) }) { member.cancel() } }

    /// Registers a member that is started, until its did-stop.
    var watcher: any Accessory { Watcher(scope: self) }

    private struct Watcher: Accessory {
        let scope: MemberScope

        func activity(_ member: Activity, did event: ActivityEvent) {
            // Work that a member detaches has its accessories, and is no member: it may outlive the scope.
            guard member.parent == scope.activity.id else { return }
            switch event {
            case .willStart: scope.enter(member)
            case .didStop: scope.leave { $0.started[member.id] = nil }
            default: break
            }
        }
    }

    private func enter(_ member: Activity) {
        let isClosed = state.withLock { state in
            state.started[member.id] = member
            return state.isClosed
        }
        if isClosed || activity.isCancelled { member.cancel() }
    }

    private func leave(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            guard state.isEmpty else { return [] as [CheckedContinuation<Void, Never>] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
