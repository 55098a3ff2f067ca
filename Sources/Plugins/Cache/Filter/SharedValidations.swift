import Errand
import Synchronization

/// Shares one validation among concurrent requests for the same stale entry.
///
/// The first request is the leader and sends the validation, while the other requests wait. If the leader is cancelled,
/// a waiting request becomes the leader. If the validation fails, each of the other requests gets the stale response if
/// the rules for that request allow it. Otherwise, and if the leader's response can't be shared, each of them is sent.
final class SharedValidations: Sendable {
    enum Outcome: Sendable {
        case validated(CacheEntryHead, old: CacheEntryHead)
        /// The server sent another response, which is stored under this key with its body in memory.
        case replaced(CacheEntry, CacheKey, vary: [String])
        /// The server failed with this status, or couldn't be reached.
        case failed(status: Int?)
        /// The response is only for the leader.
        case notShareable
        case leaderCancelled
    }

    enum Role: Sendable {
        case leader(Leader)
        case follower(Outcome)
    }

    final class Leader: Sendable {
        private let state = Mutex(Outcome.notShareable)
        fileprivate let start: CacheWriter.Start

        fileprivate init(_ start: CacheWriter.Start) { self.start = start }

        var outcome: Outcome { state.withLock { $0 } }
        func record(_ outcome: Outcome) { state.withLock { $0 = outcome } }
    }

    private struct Validation: Sendable {
        let leader: Leader
        /// The activities of the waiting requests and the leader. A second request in one activity, such as a hedge,
        /// doesn't wait for the first.
        var activities: Set<ActivityID>
        var waiting: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
    }

    private struct State: Sendable {
        var validations: [CacheWriter.Location: Validation] = [:]
        var lastTicket: UInt64 = 0
    }

    private let state = Mutex(State())

    var waitingCount: Int { state.withLock { $0.validations.values.reduce(0) { $0 + $1.waiting.count } } }

    /// Joins the validation of an entry.
    ///
    /// - Parameter isCurrent: Whether no removal since the leader began applies to the entry.
    func join(
        _ location: CacheWriter.Location, since start: CacheWriter.Start, by activity: ActivityID,
        isCurrent: (CacheWriter.Start) -> Bool
    ) async throws -> Role {
        while true {
            let (role, ticket) = state.withLock { state -> (Role?, UInt64) in
                guard let validation = state.validations[location] else {
                    let leader = Leader(start)
                    state.validations[location] = Validation(leader: leader, activities: [activity])
                    return (.leader(leader), 0)
                }
                let isOwn = validation.activities.contains(activity)
                if isOwn || !isCurrent(validation.leader.start) { return (.follower(.notShareable), 0) }
                state.validations[location]?.activities.insert(activity)
                state.lastTicket += 1
                return (nil, state.lastTicket)
            }
            if let role { return role }
            switch try await wait(location, ticket: ticket, activity: activity) {
            case .leaderCancelled?: continue
            case let outcome?: return .follower(outcome)
            case nil: throw CancellationError()
            }
        }
    }

    private func wait(
        _ location: CacheWriter.Location, ticket: UInt64, activity: ActivityID
    ) async throws -> Outcome? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Outcome?? in
                    if Task.isCancelled {
                        state.validations[location]?.activities.remove(activity)
                        return .some(nil)
                    }
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

    func finish(_ location: CacheWriter.Location, by leader: Leader, with outcome: Outcome) {
        let validation = state.withLock { state -> Validation? in
            guard state.validations[location]?.leader === leader else { return nil }
            return state.validations.removeValue(forKey: location)
        }
        for continuation in validation?.waiting.values ?? [:].values { continuation.resume(returning: outcome) }
    }
}

/// Marks a key's only background validation as running until this object is released, because cancelled work may never
/// call `end()`.
final class RevalidationTurn: Sendable {
    private let isOver = Atomic(false)
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { end() }

    func end() { if !isOver.exchange(true, ordering: .acquiringAndReleasing) { onEnd() } }
}
