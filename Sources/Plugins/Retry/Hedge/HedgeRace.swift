import Errand
import Synchronization

/// A race of two requests for the first good response. Doesn't wait for the loser to end.
final class HedgeRace: Sendable {
    typealias Outcome = Result<HTTPResponse, any Error>

    private struct State {
        var requests: [HedgedRequest]
        var running = 1
        var failure: (number: Int, outcome: Outcome)?
        var result: Outcome?
        var winner: Int?
        var waiter: CheckedContinuation<HTTPResponse, any Error>?
    }

    private let state: Mutex<State>

    init(_ first: HedgedRequest) { state = Mutex(State(requests: [first])) }

    var isDecided: Bool { state.withLock { $0.result != nil } }

    func start(_ send: () -> HedgedRequest) -> HedgedRequest? {
        let mayStart = state.withLock { state in
            if state.result == nil { state.running += 1 }
            return state.result == nil
        }
        guard mayStart else { return nil }
        let second = send()
        let isOver = state.withLock { state in
            state.requests.append(second)
            return state.result != nil
        }
        if isOver {
            second.task.cancel()
            Task { await second.discard() }
        }
        return second
    }

    /// Returns whether the outcome decides the race.
    ///
    /// - Parameters:
    ///   - number: 0 for the first request, 1 for the second.
    ///   - isGood: Whether to use the outcome without waiting for the other request.
    @discardableResult
    func finish(_ outcome: Outcome, of number: Int, isGood: Bool) -> Bool {
        let (decides, unused) = state.withLock { state -> (Bool, Outcome?) in
            state.running -= 1
            if state.result != nil { return (false, outcome) }
            if isGood {
                (state.result, state.winner) = (outcome, number)
                return (true, state.failure?.outcome)
            }
            guard let failure = state.failure else {
                if state.running > 0 {
                    state.failure = (number, outcome)
                    return (false, nil)
                }
                (state.result, state.winner) = (outcome, number)
                return (true, nil)
            }
            (state.result, state.winner) = (failure.outcome, failure.number)
            return (true, outcome)
        }
        if case .success(let response) = unused { response.body.cancel() }
        if decides { settle() }
        return decides
    }

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

    /// Keeps the checks and staged work of the winner only. Call it after ``value()``.
    func share() async {
        let (requests, winner) = state.withLock { ($0.requests, $0.winner) }
        for (number, request) in requests.enumerated() {
            if number == winner { await request.count() } else { await request.discard() }
        }
    }

    private func settle() {
        let end = state.withLock { state -> State? in
            guard state.result != nil else { return nil }
            defer { state.waiter = nil }
            return state
        }
        guard let end, let result = end.result else { return }
        for request in end.requests { request.task.cancel() }
        end.waiter?.resume(with: result)
    }
}
