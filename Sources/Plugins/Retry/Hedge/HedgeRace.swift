import Errand
import Synchronization

/// Two requests of which the first good response counts. The other one is cancelled, and not awaited.
final class HedgeRace: Sendable {
    typealias Outcome = Result<HTTPResponse, any Error>

    private struct State {
        var tasks: [SentTask]
        var running = 1
        /// The failure of one of the two while the other one still runs.
        var failure: Outcome?
        var result: Outcome?
        var waiter: CheckedContinuation<HTTPResponse, any Error>?
    }

    private let state: Mutex<State>

    init(_ first: SentTask) { state = Mutex(State(tasks: [first])) }

    var isDecided: Bool { state.withLock { $0.result != nil } }

    /// Sends the second request; nil if the race has ended, or if nothing runs beside it.
    func start(_ send: () -> SentTask) -> SentTask? {
        let mayStart = state.withLock { state in
            if state.result == nil { state.running += 1 }
            return state.result == nil
        }
        guard mayStart else { return nil }
        let second = send()
        let isOver = state.withLock { state in
            state.tasks.append(second)
            return state.result != nil
        }
        if isOver { second.cancel() }
        return second
    }

    /// One of the two has ended; a good result is one that no other attempt could improve. Returns whether it decided
    /// the race.
    @discardableResult
    func finish(_ outcome: Outcome, isGood: Bool) -> Bool {
        let (decides, unused) = state.withLock { state -> (Bool, Outcome?) in
            state.running -= 1
            if state.result != nil { return (false, outcome) }
            if isGood {
                state.result = outcome
                return (true, state.failure)
            }
            if state.running > 0 {
                state.failure = outcome
                return (false, nil)
            }
            // Of two failures the first one counts.
            state.result = state.failure ?? outcome
            return (true, state.failure == nil ? nil : outcome)
        }
        if case .success(let response) = unused { response.body.cancel() }
        if decides { settle() }
        return decides
    }

    /// The result of the winner; cancels both with the awaiting task.
    func value() async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.waiter = continuation }
                settle()
            }
        } onCancel: {
            state.withLock { state in
                if state.result == nil { state.result = .failure(CancellationError()) }
            }
            settle()
        }
    }

    /// Resumes the awaiting task and cancels the running request, once there is a result.
    private func settle() {
        let end = state.withLock { state -> State? in
            guard state.result != nil else { return nil }
            defer { state.waiter = nil }
            return state
        }
        guard let end, let result = end.result else { return }
        for task in end.tasks { task.cancel() }
        end.waiter?.resume(with: result)
    }
}
