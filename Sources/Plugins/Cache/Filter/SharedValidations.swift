import Errand
import Synchronization

/// The validations in flight: concurrent requests for one stale entry share one.
///
/// The first request leads and sends the validation. The others wait, each with its own cancellation. When the leader
/// is cancelled, one of them becomes the leader; when the leader fails, or receives a response that cannot be shared,
/// each sends a request of its own.
final class SharedValidations: Sendable {
    /// The result of a leader's validation.
    enum Outcome: Sendable {
        /// The entry is valid, with a new head.
        case validated(CacheEntryHead, old: CacheEntryHead)
        /// Another response is stored under this key; its body is in memory.
        case replaced(CacheEntry, CacheKey, vary: [String])
        /// A failure, or a response for the leader only.
        case notShareable
        /// The leader was cancelled.
        case leaderCancelled
    }

    enum Role: Sendable {
        case leader(Leader)
        case follower(Outcome)
    }

    /// Collects the outcome during the validation.
    final class Leader: Sendable {
        private let state = Mutex(Outcome.notShareable)
        fileprivate let mark: CacheWriter.Mark

        fileprivate init(_ mark: CacheWriter.Mark) { self.mark = mark }

        var outcome: Outcome { state.withLock { $0 } }
        func record(_ outcome: Outcome) { state.withLock { $0 = outcome } }
    }

    private struct Validation: Sendable {
        let leader: Leader
        /// The activities that lead or wait: a second request of one, such as that of a hedge, does not wait for the
        /// first.
        var activities: Set<ActivityID>
        var waiting: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
    }

    private struct State: Sendable {
        var validations: [CacheWriter.Location: Validation] = [:]
        var lastTicket: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The number of requests that wait for leaders.
    var waitingCount: Int { state.withLock { $0.validations.values.reduce(0) { $0 + $1.waiting.count } } }

    /// Becomes the leader, or waits for it. Throws `CancellationError` if the caller is cancelled while it waits.
    ///
    /// - Parameter isCurrent: whether no removal since the leader's mark applies to the entry.
    func join(
        _ location: CacheWriter.Location, _ mark: CacheWriter.Mark, _ activity: ActivityID,
        isCurrent: (CacheWriter.Mark) -> Bool
    ) async throws -> Role {
        while true {
            let (role, ticket) = state.withLock { state -> (Role?, UInt64) in
                guard let validation = state.validations[location] else {
                    let leader = Leader(mark)
                    state.validations[location] = Validation(leader: leader, activities: [activity])
                    return (.leader(leader), 0)
                }
                let isOwn = validation.activities.contains(activity)
                if isOwn || !isCurrent(validation.leader.mark) { return (.follower(.notShareable), 0) }
                state.validations[location]?.activities.insert(activity)
                state.lastTicket += 1
                return (nil, state.lastTicket)
            }
            if let role { return role }
            switch try await wait(location, ticket, activity) {
            case .leaderCancelled?: continue
            case let outcome?: return .follower(outcome)
            case nil: throw CancellationError()
            }
        }
    }

    private func wait(
        _ location: CacheWriter.Location, _ ticket: UInt64, _ activity: ActivityID
    ) async throws -> Outcome? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Outcome?? in
                    if Task.isCancelled {
                        state.validations[location]?.activities.remove(activity)
                        return .some(nil)
                    }
                    // The validation finished in between.
                    if state.validations[location] == nil { return .leaderCancelled }
                    state.validations[location]?.waiting[ticket] = continuation
                    state.validations[location]?.activities.insert(activity)
                    return .none
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiting = state.withLock { state -> CheckedContinuation<Outcome?, Never>? in
                guard let waiting = state.validations[location]?.waiting.removeValue(forKey: ticket) else { return nil }
                state.validations[location]?.activities.remove(activity)
                return waiting
            }
            waiting?.resume(returning: nil)
        }
    }

    /// Ends a validation, and resumes the requests that wait for it.
    func finish(_ location: CacheWriter.Location, _ leader: Leader, _ outcome: Outcome) {
        let validation = state.withLock { state -> Validation? in
            guard state.validations[location]?.leader === leader else { return nil }
            return state.validations.removeValue(forKey: location)
        }
        for continuation in validation?.waiting.values ?? [:].values { continuation.resume(returning: outcome) }
    }
}

/// The only background validation of a key. It ends once: with its work, or with the last reference to it where the work
/// was cancelled before it began.
final class RevalidationTurn: Sendable {
    private let isOver = Atomic(false)
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { end() }

    func end() { if !isOver.exchange(true, ordering: .acquiringAndReleasing) { onEnd() } }
}
