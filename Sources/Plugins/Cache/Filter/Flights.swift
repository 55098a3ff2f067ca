import Synchronization

/// The validations that are on their way, so that requests for one stale entry share one.
///
/// The first request leads: it asks the server. The others wait, each with its own cancellation. When the leader is
/// cancelled one of them takes its place; when the leader fails, or gets what is not theirs too, each goes on by itself.
final class Flights: Sendable {
    /// What a leader learned.
    enum Landing: Sendable {
        /// The entry holds, under a new head.
        case validated(CacheEntryHead, old: CacheEntryHead)
        /// Another response is stored under this key, its body in memory.
        case replaced(CacheEntry, CacheKey, vary: [String])
        /// Nothing for others.
        case alone
        /// The leader was cancelled.
        case again
    }

    enum Role: Sendable {
        case leader(Leader)
        case follower(Landing)
    }

    /// Collects what is learned on the way.
    final class Leader: Sendable {
        private let state = Mutex(Landing.alone)
        fileprivate let mark: CacheWriter.Mark

        fileprivate init(_ mark: CacheWriter.Mark) { self.mark = mark }

        var landing: Landing { state.withLock { $0 } }
        func learn(_ landing: Landing) { state.withLock { $0 = landing } }
    }

    private struct Flight: Sendable {
        let leader: Leader
        var waiting: [UInt64: CheckedContinuation<Landing?, Never>] = [:]
    }

    private struct State: Sendable {
        var flights: [CacheWriter.Place: Flight] = [:]
        var tickets: UInt64 = 0
    }

    private let state = Mutex(State())

    /// How many wait for leaders.
    var waitingCount: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiting.count } } }

    /// Leads, or waits for whoever does. Throws `CancellationError` when the caller is cancelled while it waits.
    ///
    /// - Parameter isCurrent: whether what began at the leader's mark is good enough.
    func join(
        _ place: CacheWriter.Place, _ mark: CacheWriter.Mark, isCurrent: (CacheWriter.Mark) -> Bool
    ) async throws -> Role {
        while true {
            let (role, ticket) = state.withLock { state -> (Role?, UInt64) in
                guard let flight = state.flights[place] else {
                    let leader = Leader(mark)
                    state.flights[place] = Flight(leader: leader)
                    return (.leader(leader), 0)
                }
                if !isCurrent(flight.leader.mark) { return (.follower(.alone), 0) }
                state.tickets += 1
                return (nil, state.tickets)
            }
            if let role { return role }
            switch try await wait(place, ticket) {
            case .again?: continue
            case let landing?: return .follower(landing)
            case nil: throw CancellationError()
            }
        }
    }

    private func wait(_ place: CacheWriter.Place, _ ticket: UInt64) async throws -> Landing? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Landing?? in
                    if Task.isCancelled { return .some(nil) }
                    // It landed in between.
                    if state.flights[place] == nil { return .again }
                    state.flights[place]?.waiting[ticket] = continuation
                    return .none
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiting = state.withLock { $0.flights[place]?.waiting.removeValue(forKey: ticket) }
            waiting?.resume(returning: nil)
        }
    }

    /// Ends a flight: hands what was learned to those who wait.
    func land(_ place: CacheWriter.Place, _ leader: Leader, _ landing: Landing) {
        let flight = state.withLock { state -> Flight? in
            guard state.flights[place]?.leader === leader else { return nil }
            return state.flights.removeValue(forKey: place)
        }
        for continuation in flight?.waiting.values ?? [:].values { continuation.resume(returning: landing) }
    }
}
