import Errand
import ErrandEssentials
import Synchronization

/// The requests to one host: those that run, and those that wait for their turn, the first one first.
final class HostLine: HostRecord {
    /// The ticket of a request that may be sent.
    struct Ticket: Sendable {
        /// Its position in the order of arrival.
        let arrival: UInt64
        /// Its position in the order of sending.
        let number: UInt64
        let start: Duration
    }

    let host: String
    private let limits: HostLimits
    /// The times of the line are counted from here: an instant in an optional or an enum costs calls of the runtime at each
    /// copy, a duration none.
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

    /// Admits a request, or makes it wait; nil if the line is out of use. Throws ``ResilienceError``.
    func begin(at now: ContinuousClock.Instant) throws -> Entry? {
        let now = origin.duration(to: now)
        return try state.withLock { state in
            if state.isRetired { return nil }
            state.arrivals += 1
            if state.queue.isEmpty, case .now = state.opening(at: now, limits) {
                return .now(state.admit(at: now, arrival: state.arrivals, limits))
            }
            guard state.queue.count < limits.maximumQueue else {
                throw ResilienceError(.queueFull, host: host, "\(state.queue.count) requests wait already")
            }
            let waiter = HostWaiter(state.arrivals)
            state.queue.append(waiter)
            return .waits(waiter)
        }
    }

    /// Takes back a request that was not sent: it waits again, at its old position.
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

    /// Handles a response, or a failure if it is nil: adopts the host's limits from it. If the request has not ended,
    /// ``leave()`` has to follow.
    func receive(_ ticket: Ticket, _ response: HTTPResponse?, _ time: any TimeSource, isOver: Bool) {
        // With any other status the field concerns the request alone, for example with 413 or a redirect.
        let status = response?.status ?? 0
        let concernsHost = status == 403 || status == 429 || (500...599).contains(status)
        let headers = response?.headers ?? [:]
        let asked = concernsHost ? headers.retryAfter(from: time.date, upTo: limits.maximumPause) : nil
        let field = RateLimitField(headers)
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
                // A request that was sent a whole period before does not count any more.
                let begin = now - field.reset
                let older = state.pending.firstIndex { $0.at > begin } ?? state.pending.endIndex
                let quota = HostQuota(
                    field, now, since: ticket.start, onTheirWay: state.pending.count - older, lastSent: state.sent,
                    longest: limits.maximumPause)
                if state.quota?.update(with: quota, from: ticket.number) == nil { state.quota = quota }
                state.ramp = nil
            }
            return state.queue.first
        }
        first?.signal()
    }

    /// A streamed body has ended.
    func leave() {
        state.withLock { state in
            state.running -= 1
            return state.queue.first
        }?.signal()
    }

    /// Whether a request that was admitted earlier may still be sent.
    func isOpen(at now: ContinuousClock.Instant) -> Bool {
        let now = origin.duration(to: now)
        return state.withLock { state in
            if let until = state.pausedUntil, until > now { return false }
            if let quota = state.quota, quota.isSpent, quota.until > now { return false }
            return true
        }
    }

    /// Returns when it is a request's turn. Throws ``ResilienceError`` if that is too late.
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
            switch state.withLock({ step(&$0, waiter, at: moment, last) }) {
            case .enter(let ticket, let next):
                next?.signal()
                if let wait = waitsSince?.duration(to: now) {
                    exchange.note(
                        "gate", "waited \(duration: wait) for \(host)", details: GateNote(host: host, wait: wait))
                }
                return ticket
            case .refuse(let remaining):
                let reason = exchange.deadline == limit ? "the deadline of the call" : "the longest wait"
                throw ResilienceError(
                    .waitTooLong, host: host, remaining: remaining, "it allows no request before \(reason) is over")
            case .wait(let until):
                if waitsSince == nil { exchange.note("gate", "waits for \(host)") }
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
        _ state: inout State, _ waiter: HostWaiter, at now: Duration, _ limit: Duration
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
    /// The requests of the line, and what its host allows; all times are counted from the line's origin.
    struct State {
        var isRetired = false
        /// The number of running requests, streamed bodies included.
        var running = 0
        var arrivals: UInt64 = 0
        var sent: UInt64 = 0
        /// The requests without a response so far, in the order in which they were sent.
        var pending: [(number: UInt64, at: Duration)] = []
        var pausedUntil: Duration?
        var quota: HostQuota?
        var ramp: HostRamp?
        var rate = RateWindow()
        var queue: [HostWaiter] = []

        /// The request has a response, or has failed.
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
            /// Not before a time.
            case at(Duration)
            /// At a time, or as soon as a response arrives.
            case soon(Duration)
            /// As soon as a request ends.
            case later
        }

        /// The earliest time at which a request may be sent that has this many others before it.
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
                    // A response that is under way may change the quota.
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

        /// Counts a request as sent.
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

/// The details of the note named "gate" with which a gate reports that a request has had its turn after a wait.
public struct GateNote: Sendable, Hashable {
    /// Name and port of the host.
    public let host: String
    /// The wait.
    public let wait: Duration
}
