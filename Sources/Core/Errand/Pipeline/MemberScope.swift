import ErrandHTTP
import Synchronization

/// Counts an activity's running members, and ends them with the activity.
final class MemberScope: Sendable {
    private struct State {
        var count = 0
        /// The number of members that are awaited or being started.
        var sending = 0
        /// The started members, which may run without being awaited.
        var started: [Activity.ID: Activity] = [:]
        var isClosed = false
        /// The task that waits in ``close()``, if any. An array, because reading it costs less than an optional.
        var waiters: [CheckedContinuation<Void, Never>] = []

        var isEmpty: Bool { sending == 0 && started.isEmpty }
    }

    private let activity: Activity
    private let state = Mutex(State())

    init(_ activity: Activity) { self.activity = activity }

    func check() throws { try state.withLock { try check($0) } }

    private func check(_ state: borrowing State) throws {
        if state.isClosed || activity.isOver {
            throw ErrandError(
                .activityEnded, "the \(activity.kind) that this request belongs to had already ended")
        }
        if activity.isCancelled { throw CancellationError() }
    }

    /// Returns the new member's index. Call ``end()`` once the member isn't awaited or being started anymore.
    func begin() throws -> Int {
        try state.withLock { state in
            try check(state)
            defer { (state.count, state.sending) = (state.count + 1, state.sending + 1) }
            return state.count
        }
    }

    func end() { leave { $0.sending -= 1 } }

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

    /// Cancelling the activity's own task doesn't reach the started members.
    func cancelAll() { for member in state.withLock({ Array($0.started.values) }) { member.cancel() } }

    var watcher: any Accessory { Watcher(scope: self) }

    private struct Watcher: Accessory {
        let scope: MemberScope

        func observesNotes(of kind: ActivityKind) -> Bool { false }

        func activity(_ member: Activity, did event: ActivityEvent) {
            // Ignore work that a member detached. It has the member's accessories, but can outlive the scope.
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
