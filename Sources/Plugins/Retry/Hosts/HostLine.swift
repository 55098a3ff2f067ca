import Errand
import ErrandEssentials
import Synchronization

/// The running requests to a host and the queue of waiting requests.
final class HostLine: HostRecord {
    struct Ticket: Sendable {
        let arrival: UInt64
        let number: UInt64
        let start: Duration
    }

    let host: String
    private let limits: HostLimits
    /// Times are durations since this instant, because copying an optional or enum that contains an instant calls the
    /// Swift runtime.
    private let origin: ContinuousClock.Instant
    private let state = Mutex(State())

    init(_ host: String, _ limits: HostLimits, at now: ContinuousClock.Instant) {
        (self.host, self.limits, origin) = (host, limits, now)
    }

    func retire(at now: ContinuousClock.Instant, isForced: Bool) -> Bool {
        let now = origin.duration(to: now)
        return state.withLock { state in
            if state.running > 0 || !state.queue.isEmpty { return false }
            let isResting = state.pausedUntil.map { $0 > now } ?? false || state.quota.map { $0.until > now } ?? false
            let isRising = state.ramp.map { !$0.isOver(at: now) } ?? false
            let isFresh = !isResting && !isRising && state.rate.isOver(at: now, limits.rate)
            state.isRetired = isFresh || isForced
            return state.isRetired
        }
    }

    enum Entry {
        case now(Ticket)
        case waits(HostWaiter)
    }

    /// Returns nil if this record is retired.
    func begin(at now: ContinuousClock.Instant) throws -> Entry? {
        let now = origin.duration(to: now)
        return try state.withLock { state in
            if state.isRetired { return nil }
            state.arrivals += 1
            if state.queue.isEmpty, case .now = state.opening(at: now, limits) {
                return .now(state.admit(at: now, arrival: state.arrivals, limits))
            }
            guard state.queue.count < limits.maximumQueue else {
                throw ResilienceError(
                    .queueFull, host: host, "\(state.queue.count) requests to this host are already waiting")
            }
            let waiter = HostWaiter(state.arrivals)
            state.queue.append(waiter)
            return .waits(waiter)
        }
    }

    func takeBack(_ ticket: Ticket) -> HostWaiter {
        let waiter = HostWaiter(ticket.arrival)
        let first = state.withLock { state in
            state.running -= 1
            state.receive(ticket)
            state.rate.remove(ticket.start)
            state.quota?.takeBack(ticket.number)
            let index = state.queue.firstIndex { $0.number > ticket.arrival } ?? state.queue.endIndex
            state.queue.insert(waiter, at: index)
            return state.queue.first
        }
        first?.signal()
        return waiter
    }

    /// Updates the limits. If `isOver` is false, call ``leave()`` when the body ends.
    ///
    /// - Parameter response: Nil after a failure.
    func receive(_ ticket: Ticket, response: HTTPResponse?, time: any TimeSource, isOver: Bool) {
        // With other statuses, such as 413 or a redirect, `Retry-After` concerns only this request.
        let status = response?.status ?? 0
        let concernsHost = status == 403 || status == 429 || (500...599).contains(status)
        let headers = response?.headers ?? [:]
        let asked = concernsHost ? headers.retryAfter(from: time.date, upTo: limits.maximumPause) : nil
        let field = RateLimitField(headers, at: time.date)
        let now = asked == nil && field == nil ? ticket.start : origin.duration(to: time.now)
        let first = state.withLock { state -> HostWaiter? in
            if isOver { state.running -= 1 }
            state.receive(ticket)
            state.ramp?.receive(for: ticket.start)
            if let asked {
                let end = now + asked
                state.pausedUntil = state.pausedUntil.map { max($0, end) } ?? end
            }
            if let field {
                // The host no longer counts requests that were sent more than one period before this time.
                let begin = now - field.reset
                let older = state.pending.firstIndex { $0.at > begin } ?? state.pending.endIndex
                let quota = HostQuota(
                    field, now, since: ticket.start, inFlight: state.pending.count - older, lastSent: state.sent,
                    longest: limits.maximumPause)
                if state.quota?.update(with: quota, from: ticket.number) == nil { state.quota = quota }
                state.ramp = nil
            }
            return state.queue.first
        }
        first?.signal()
    }

    func leave() {
        state.withLock { state in
            state.running -= 1
            return state.queue.first
        }?.signal()
    }

    func isOpen(at now: ContinuousClock.Instant) -> Bool {
        let now = origin.duration(to: now)
        return state.withLock { state in
            if let until = state.pausedUntil, until > now { return false }
            if let quota = state.quota, quota.isSpent, quota.until > now { return false }
            return true
        }
    }

    func wait(
        _ waiter: HostWaiter, _ exchange: Exchange, since start: ContinuousClock.Instant
    ) async throws -> Ticket {
        do { return try await turn(of: waiter, exchange, since: start) } catch {
            state.withLock { state in
                state.queue.removeAll { $0 === waiter }
                return state.queue.first
            }?.signal()
            throw error
        }
    }

    private func turn(
        of waiter: HostWaiter, _ exchange: Exchange, since start: ContinuousClock.Instant
    ) async throws -> Ticket {
        let time = exchange.time
        let waitLimit = start.advanced(by: limits.maximumWait.bounded)
        let limit = exchange.deadline.map { min($0, waitLimit) } ?? waitLimit
        var waitsSince: ContinuousClock.Instant?
        while true {
            try Task.checkCancellation()
            let now = time.now
            let (moment, last) = (origin.duration(to: now), origin.duration(to: limit))
            switch state.withLock({ step(&$0, waiter, at: moment, limit: last) }) {
            case .enter(let ticket, let next):
                next?.signal()
                if let wait = waitsSince?.duration(to: now) {
                    exchange.note(
                        "host limit", "waited \(duration: wait) for \(host)",
                        details: HostLimitNote(host: host, wait: wait))
                }
                return ticket
            case .refuse(let remaining):
                let reason = exchange.deadline == limit ? "the call's deadline" : "the maximum wait"
                throw ResilienceError(
                    .waitTooLong, host: host, remaining: remaining, "the host doesn't allow a request before \(reason)")
            case .wait(let until):
                if waitsSince == nil { exchange.note("host limit", "waits for \(host)") }
                waitsSince = waitsSince ?? now
                await waiter.wait(until: origin.advanced(by: until), time)
            }
        }
    }

    private enum Step {
        case enter(Ticket, next: HostWaiter?)
        case wait(until: Duration)
        case refuse(remaining: Duration?)
    }

    private func step(
        _ state: inout State, _ waiter: HostWaiter, at now: Duration, limit: Duration
    ) -> Step {
        let position = state.queue.firstIndex { $0 === waiter } ?? 0
        switch state.opening(at: now, position: position, limits) {
        case .now where position == 0:
            state.queue.removeFirst()
            let ticket = state.admit(at: now, arrival: waiter.number, limits)
            return .enter(ticket, next: state.queue.first)
        case .now, .later:
            return now >= limit ? .refuse(remaining: nil) : .wait(until: limit)
        case .soon(let instant):
            if now >= limit { return .refuse(remaining: nil) }
            return .wait(until: position == 0 ? min(instant, limit) : limit)
        case .at(let instant):
            if instant >= limit { return .refuse(remaining: instant - now) }
            return .wait(until: position == 0 ? instant : limit)
        }
    }
}

extension HostLine {
    struct State {
        var isRetired = false
        /// Includes requests whose streamed bodies haven't ended.
        var running = 0
        var arrivals: UInt64 = 0
        var sent: UInt64 = 0
        /// Requests without a response, in sending order.
        var pending: [(number: UInt64, at: Duration)] = []
        var pausedUntil: Duration?
        var quota: HostQuota?
        var ramp: HostRamp?
        var rate = RateWindow()
        var queue: [HostWaiter] = []

        mutating func receive(_ ticket: Ticket) {
            if pending.first?.number == ticket.number {
                pending.remove(at: 0)
            } else if let index = pending.lastIndex(where: { $0.number <= ticket.number }),
                pending[index].number == ticket.number
            {
                pending.remove(at: index)
            }
        }

        enum Opening {
            case now
            case at(Duration)
            /// The turn comes at this time, or earlier if a response arrives first.
            case soon(Duration)
            /// The turn comes as soon as a running request ends.
            case later
        }

        mutating func opening(at now: Duration, position: Int = 0, _ limits: HostLimits) -> Opening {
            var earliest = now
            var news: Duration?
            if let until = pausedUntil {
                if until > now {
                    earliest = until
                } else {
                    (pausedUntil, ramp) = (nil, HostRamp(until))
                }
            }
            if let quota {
                if quota.until <= now {
                    self.quota = nil
                    if quota.left <= 0 { ramp = HostRamp(quota.until) }
                } else if quota.left <= 0 {
                    // If a request is pending, its response may still renew the quota.
                    if quota.isSpent || pending.isEmpty { earliest = max(earliest, quota.until) }
                    news = quota.until
                }
            }
            earliest = max(earliest, rate.opening(at: now, position: position, limits.rate))
            if earliest > now { return .at(earliest) }
            if let news { return .soon(news) }
            if let ramp {
                if ramp.isOver(at: now) {
                    self.ramp = nil
                } else if !ramp.permits(at: now) {
                    return .soon(ramp.next(after: now))
                }
            }
            if let most = limits.maximumConcurrent, running >= max(1, most) { return .later }
            return .now
        }

        mutating func admit(at now: Duration, arrival: UInt64, _ limits: HostLimits) -> Ticket {
            running += 1
            sent += 1
            pending.append((sent, now))
            quota?.use()
            ramp?.send()
            rate.add(now, limits.rate)
            return Ticket(arrival: arrival, number: sent, start: now)
        }
    }
}

/// The details of the note "host limit", which accessories receive after a request has waited for its turn.
public struct HostLimitNote: Sendable, Hashable {
    /// The host's name and port.
    public let host: String
    /// How long the request waited.
    public let wait: Duration
}

final class HostWaiter: Sendable {
    private struct State {
        var isSignalled = false
        var sleep: Task<Void, Never>?
    }

    let number: UInt64
    private let state = Mutex(State())

    init(_ number: UInt64) { self.number = number }

    /// Ends the current wait. If there isn't any, the next wait ends immediately.
    func signal() {
        state.withLock { state in
            state.isSignalled = true
            return state.sleep
        }?.cancel()
    }

    func wait(until instant: ContinuousClock.Instant, _ time: any TimeSource) async {
        let sleep = Task { await time.wait(until: instant) }
        let isSignalled = state.withLock { state in
            state.sleep = sleep
            return state.isSignalled
        }
        if isSignalled { sleep.cancel() }
        await withTaskCancellationHandler {
            await sleep.value
        } onCancel: {
            sleep.cancel()
        }
        // A signal that is lost here does no harm, because the state was changed before the signal was sent.
        state.withLock { $0 = State() }
    }
}
