import Errand
import ErrandEssentials
import Synchronization

/// The requests to one host: those that run, and those that wait for their turn, the first one first.
final class HostLine: Sendable {
    let host: String
    private let limits: HostLimits
    private let state = Mutex(State())

    private struct State {
        var running = 0
        var pausedUntil: ContinuousClock.Instant?
        var quota: (left: Int, until: ContinuousClock.Instant)?
        /// When the last requests were sent, as many as the rate counts; the oldest one first from `oldest` on.
        var sent: [ContinuousClock.Instant] = []
        var oldest = 0
        var queue: [HostWaiter] = []
    }

    init(_ host: String, _ limits: HostLimits) { (self.host, self.limits) = (host, limits) }

    var isIdle: Bool { state.withLock { $0.running == 0 && $0.queue.isEmpty && $0.pausedUntil == nil } }

    /// Returns when a request may be sent; ``leave()`` has to follow. Throws ``ResilienceError`` where that is too late.
    func enter(_ exchange: Exchange) async throws {
        let now = exchange.time.now
        let waiter = try state.withLock { state -> HostWaiter? in
            if state.queue.isEmpty, case .now = opening(&state, at: now) {
                admit(&state, at: now)
                return nil
            }
            guard state.queue.count < limits.maximumQueue else {
                throw ResilienceError(.queueFull, host: host, "\(state.queue.count) requests wait already")
            }
            let waiter = HostWaiter()
            state.queue.append(waiter)
            return waiter
        }
        guard let waiter else { return }
        do { try await wait(waiter, exchange, since: now) } catch {
            state.withLock { state in
                state.queue.removeAll { $0 === waiter }
                return state.queue.first
            }?.signal()
            throw error
        }
    }

    /// A request has been responded to, has failed, or its body has ended.
    func leave() {
        state.withLock { state in
            state.running -= 1
            return state.queue.first
        }?.signal()
    }

    /// Takes in what a response says of the host's limits; before ``leave()``.
    func learn(from response: HTTPResponse, _ time: any TimeSource) {
        // Of other statuses the field concerns the request alone, as of 413 or a redirect.
        let concernsHost = response.status == 403 || response.status == 429 || (500...599).contains(response.status)
        let asked =
            concernsHost
            ? RetryAfterField.wait(in: response.headers, at: time.date, limit: limits.maximumPause) : nil
        let limit = RateLimitField(response.headers)
        if asked == nil && limit == nil { return }
        let now = time.now
        let first = state.withLock { state -> HostWaiter? in
            if let asked {
                let end = now.advanced(by: asked)
                state.pausedUntil = state.pausedUntil.map { max($0, end) } ?? end
            }
            if let limit {
                // What runs beside it has not been counted yet, perhaps.
                let left = max(0, limit.remaining - max(0, state.running - 1))
                let until = now.advanced(by: min(limit.reset, max(limits.maximumPause, .zero)))
                let isSamePeriod = state.quota.map { until <= $0.until.advanced(by: .seconds(1)) } ?? false
                state.quota = (isSamePeriod ? min(left, state.quota?.left ?? left) : left, until)
            }
            return state.queue.first
        }
        first?.signal()
    }

    private func wait(
        _ waiter: HostWaiter, _ exchange: Exchange, since start: ContinuousClock.Instant
    ) async throws {
        let time = exchange.time
        let waitLimit = start.advanced(by: min(max(limits.maximumWait, .zero), .seconds(3_155_760_000 as Int64)))
        let limit = exchange.deadline.map { min($0, waitLimit) } ?? waitLimit
        var isNoted = false
        while true {
            try Task.checkCancellation()
            let now = time.now
            switch state.withLock({ step(&$0, waiter, at: now, limit) }) {
            case .enter(let next):
                next?.signal()
                return
            case .refuse(let remaining):
                let reason = exchange.deadline == limit ? "the deadline of the call" : "the longest wait"
                throw ResilienceError(
                    .waitTooLong, host: host, remaining: remaining, "it allows no request before \(reason) is over")
            case .wait(let until):
                if !isNoted { exchange.note("gate", "waits for \(host)") }
                isNoted = true
                await waiter.wait(until: until, time)
            }
        }
    }

    private enum Step {
        case enter(next: HostWaiter?)
        case wait(until: ContinuousClock.Instant)
        case refuse(remaining: Duration?)
    }

    private func step(
        _ state: inout State, _ waiter: HostWaiter, at now: ContinuousClock.Instant, _ limit: ContinuousClock.Instant
    ) -> Step {
        let position = state.queue.firstIndex { $0 === waiter } ?? 0
        switch opening(&state, at: now, position: position) {
        case .now where position == 0:
            state.queue.removeFirst()
            admit(&state, at: now)
            return .enter(next: state.queue.first)
        case .now, .later:
            return now >= limit ? .refuse(remaining: nil) : .wait(until: limit)
        case .at(let instant):
            if instant >= limit { return .refuse(remaining: now.duration(to: instant)) }
            return .wait(until: position == 0 ? instant : limit)
        }
    }

    private enum Opening {
        case now
        /// Not before an instant.
        case at(ContinuousClock.Instant)
        /// As soon as a request ends.
        case later
    }

    /// When a request may be sent at the earliest that has so many others before it.
    private func opening(
        _ state: inout State, at now: ContinuousClock.Instant, position: Int = 0
    ) -> Opening {
        var earliest = now
        if let until = state.pausedUntil {
            if until > now { earliest = until } else { state.pausedUntil = nil }
        }
        if let quota = state.quota {
            if quota.until <= now {
                state.quota = nil
            } else if quota.left <= 0 {
                earliest = max(earliest, quota.until)
            }
        }
        if let rate = limits.rate, rate.period > .zero {
            let ahead = position - (rate.count - state.sent.count)
            if ahead >= 0 {
                let periods = rate.period * (1 + ahead / rate.count)
                let index = ahead % rate.count
                let base = index < state.sent.count ? state.sent[(state.oldest + index) % state.sent.count] : nil
                earliest = max(earliest, (base ?? now.advanced(by: .zero - rate.period)).advanced(by: periods))
            }
        }
        if earliest > now { return .at(earliest) }
        if let most = limits.maximumConcurrent, state.running >= max(1, most) { return .later }
        return .now
    }

    private func admit(_ state: inout State, at now: ContinuousClock.Instant) {
        state.running += 1
        if state.quota != nil { state.quota?.left -= 1 }
        guard let rate = limits.rate, rate.period > .zero else { return }
        if state.sent.count < rate.count {
            state.sent.append(now)
        } else {
            state.sent[state.oldest] = now
            state.oldest = (state.oldest + 1) % rate.count
        }
    }
}
