#if os(Linux) || os(Android)
import ErrandSupport
import Synchronization

/// Transfers that wait for a descriptor, in order of arrival.
struct DescriptorQueue {
    private var waiting: [Transfer] = []
    private(set) var deadline = UInt64.max

    /// The time between two checks, in nanoseconds. Only a check shows that other code has closed descriptors.
    private static let pause: UInt64 = 20_000_000
    /// The time in which a batch of transfers opens its sockets, in nanoseconds.
    private static let step: UInt64 = 1_000_000
    private static let batch = 4

    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ transfer: Transfer, at now: UInt64) {
        waiting.append(transfer)
        deadline = min(deadline, now + Self.pause)
    }

    mutating func remove(_ transfer: Transfer) -> Bool {
        guard let index = waiting.firstIndex(where: { $0 === transfer }) else { return false }
        waiting.remove(at: index)
        return true
    }

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
    /// Whether the transfer has waited too long. Always `false` for a transfer with another clock, which
    /// ``startWatch()`` watches.
    fileprivate func hasWaitedTooLong(at now: UInt64) -> Bool {
        guard usesLoopClock, let since = attempts.waitsSince else { return false }
        return now - min(now, since) >= inactivityLimit
    }
}

/// A short wait that doesn't need descriptors. If the process has no free descriptors, `Task.sleep` would end the
/// process or never wake.
enum DescriptorPause {
    private static let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
    private static let microseconds: UInt32 = 20_000

    /// Waits for a short time, even if the task is cancelled.
    static func wait() async {
        await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                waiting.append(continuation)
                return waiting.count == 1
            }
            if isFirst { startThread() }
        }
    }

    private static func startThread() {
        let code = SystemCalls.startThread {
            usleep(microseconds)
            resumeAll()
        }
        if code != 0 { resumeAll() }
    }

    private static func resumeAll() {
        let all = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for continuation in all { continuation.resume() }
    }
}
#endif
