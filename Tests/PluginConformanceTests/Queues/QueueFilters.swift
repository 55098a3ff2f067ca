import Errand
import ErrandEssentials
import Synchronization

/// Pauses all calls after a 429 or 503 with `Retry-After`, and then sends one call after the other.
final class PausedHost: Filter {
    enum Form: CaseIterable { case right, ignoresCancellation, keepsTurn, spacesCancelled, countsWaiting }

    private struct State {
        var end: ContinuousClock.Instant?
        var next: ContinuousClock.Instant?
        var waiting = 0
        /// The turn of the calls that wait, for `keepsTurn`.
        var isTaken = false
    }

    private let form: Form
    private let state = Mutex(State())

    init(_ form: Form) { self.form = form }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let time = exchange.time
        if let end = state.withLock({ $0.end }), end > time.now { try await wait(until: end, exchange) }
        let response = try await next(exchange)
        if [429, 503].contains(response.status), let wait = response.headers.retryAfter(from: time.date) {
            state.withLock { $0.end = time.now.advanced(by: min(wait, .seconds(60))) }
        }
        return response
    }

    private func wait(until end: ContinuousClock.Instant, _ exchange: Exchange) async throws {
        let time = exchange.time
        if let deadline = exchange.deadline, deadline <= end {
            throw ErrandError(.deadlineExceeded, "the host pauses")
        }
        switch form {
        case .right: try await time.sleep(until: end)
        case .ignoresCancellation:
            let sleep = Task { try? await time.sleep(until: end) }
            await sleep.value
        case .keepsTurn:
            // Only one call waits for the end, and wakes the others. Wrong: not after its cancellation.
            let isFirst = state.withLock { state in
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFirst {
                try await time.sleep(until: end)
                state.withLock { $0.isTaken = false }
            } else {
                while state.withLock({ $0.isTaken }) { try await time.sleep(until: time.now.advanced(by: .seconds(1))) }
            }
        case .spacesCancelled:
            // Right would be to give the turn of a cancelled call to the next.
            let turn = state.withLock { state in
                let turn = max(end, state.next ?? end)
                state.next = turn.advanced(by: .seconds(2))
                return turn
            }
            try await time.sleep(until: turn)
        case .countsWaiting:
            let count = state.withLock { state in
                state.waiting += 1
                return state.waiting
            }
            if count > 50 { throw ErrandError(.cannotConnect, "too many calls wait") }
            try await time.sleep(until: end)
            state.withLock { $0.waiting -= 1 }
        }
    }
}

/// Sends at most some requests at the same time.
final class Turnstile: Filter {
    enum Form: CaseIterable {
        case right, oneMore, keepsPlaceAfterErrors, keepsPlaceAfterCancellations, lastFirst, losesHandedPlace
    }

    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var free: Int
        var number = 0
        var waiters: [Waiter] = []
        var cancelled: Set<Int> = []
    }

    private let form: Form
    private let state: Mutex<State>

    init(_ most: Int, _ form: Form) {
        self.form = form
        state = Mutex(State(free: form == .oneMore ? most + 1 : most))
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try await take()
        do {
            let response = try await next(exchange)
            release()
            return response
        } catch {
            let isKept =
                form == .keepsPlaceAfterErrors && !error.isCancellation
                || form == .keepsPlaceAfterCancellations && error.isCancellation
            if !isKept { release() }
            throw error
        }
    }

    private func take() async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.number += 1
            return state.number
        }
        let isTaken = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter: Waiter? = state.withLock { state in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                // Wrong: the waiter stays in the queue, and a place is handed to it.
                if form == .losesHandedPlace { return state.waiters[index] }
                return state.waiters.remove(at: index)
            }
            if form != .losesHandedPlace { waiter?.continuation.resume(returning: false) }
        }
        _ = state.withLock { $0.cancelled.remove(id) }
        if !isTaken { throw CancellationError() }
        if form == .losesHandedPlace { try Task.checkCancellation() }
    }

    private func release() {
        let waiter: Waiter? = state.withLock { state in
            if state.waiters.isEmpty {
                state.free += 1
                return nil
            }
            return form == .lastFirst ? state.waiters.removeLast() : state.waiters.removeFirst()
        }
        waiter?.continuation.resume(returning: true)
    }
}
