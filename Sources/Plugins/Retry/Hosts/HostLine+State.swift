import Errand
import ErrandEssentials

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
