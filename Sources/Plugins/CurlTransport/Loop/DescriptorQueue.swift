#if os(Linux) || os(Android)
/// Transfers that wait for a descriptor, because the process or the system is out of them, in order of arrival.
struct DescriptorQueue {
    private var waiting: [Transfer] = []
    /// The time of the next check.
    private(set) var deadline = UInt64.max

    /// The pause between checks without descriptors, because other code closes descriptors without notice.
    private static let pause: UInt64 = 20_000_000
    /// The pause between batches with descriptors, so a batch has opened its sockets before the next check.
    private static let step: UInt64 = 1_000_000
    private static let batch = 4

    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ transfer: Transfer, at now: UInt64) {
        waiting.append(transfer)
        deadline = min(deadline, now + Self.pause)
    }

    /// Removes a transfer. Returns whether it was waiting.
    mutating func remove(_ transfer: Transfer) -> Bool {
        guard let index = waiting.firstIndex(where: { $0 === transfer }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Returns the transfers whose timeout has passed and, if there are descriptors, a few to begin.
    mutating func due(at now: UInt64, hasDescriptors: Bool) -> (late: [Transfer], next: [Transfer]) {
        let late = waiting.filter { $0.hasWaitedTooLong(at: now) }
        if !late.isEmpty { waiting.removeAll { $0.hasWaitedTooLong(at: now) } }
        let next = hasDescriptors ? Array(waiting.prefix(Self.batch)) : []
        waiting.removeFirst(next.count)
        deadline = waiting.isEmpty ? .max : now + (hasDescriptors ? Self.step : Self.pause)
        return (late, next)
    }
}

extension Transfer {
    /// Clocks other than the system's are watched elsewhere.
    fileprivate func hasWaitedTooLong(at now: UInt64) -> Bool {
        guard usesLoopClock, let since = attempts.waitsSince else { return false }
        return now - min(now, since) >= inactivityLimit
    }
}
#endif
