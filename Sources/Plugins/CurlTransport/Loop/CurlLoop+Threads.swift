#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport
import Synchronization

// The parts that any thread may call, and the work of the loop's own thread.
extension CurlLoop {
    /// Runs on this thread unless another thread is running libcurl.
    func start(_ transfer: Transfer) {
        guard run(.start(transfer)) else { return Outbox.deliver(transfer.finish(Self.ended, nil)) }
    }

    static var ended: ErrandError { ErrandError(.transportFailed, "the transport has ended") }

    /// Runs on this thread unless another thread is running libcurl. Returns `false` once the loop has ended.
    @discardableResult func run(_ command: Command) -> Bool {
        guard push(command) else { return false }
        workHere()
        return true
    }

    private func workHere() {
        guard library.runsOnAnyThread else { return wakeUp() }
        while !loopWaits.load(ordering: .acquiring), driver.tryLock() {
            let isAllowed = work(events: [], mayGather: false)
            let isEarlier = nextDeadline < sleepsUntil
            if isEarlier { sleepsUntil = 0 }
            var outgoing = Outbox()
            outbox.move(to: &outgoing)
            driver.unlock()
            if isEarlier { wakeUp() }
            outgoing.deliver()
            if !isAllowed || queue.withLock({ $0.commands.isEmpty }) { return }
        }
    }

    /// Leaves a command to the loop's thread.
    func submit(_ command: Command) {
        if push(command) { wakeUp() }
    }

    private func push(_ command: Command) -> Bool {
        queue.withLock { queue in
            if !queue.isOver { queue.commands.append(command) }
            return !queue.isOver
        }
    }

    /// The transport was deallocated: the thread ends with the last transfer.
    func retire() {
        queue.withLock { $0.isRetired = true }
        wakeUp()
    }

    private func wakeUp() {
        if !isWoken.exchange(true, ordering: .acquiringAndReleasing) { errand_wake_send(wake) }
    }

    /// Waits for the driver lock.
    var runningCount: Int {
        driver.lock()
        defer { driver.unlock() }
        return active.count + origins.waitingCount
    }

    // MARK: The loop's thread

    func startThread() throws {
        let code = SystemCalls.startThread { [self] in run() }
        guard code == 0 else {
            throw ErrandError(.transportFailed, "a thread couldn't be created: \(systemErrorText(code))")
        }
    }

    private static let eventsAtOnce = 64

    private func run() {
        SystemCalls.prepareThread("errand-curl")
        var events = [errand_poll_event](repeating: errand_poll_event(), count: Self.eventsAtOnce)
        var count = 0
        var outgoing = Outbox()
        while true {
            loopWaits.store(true, ordering: .releasing)
            driver.lock()
            loopWaits.store(false, ordering: .releasing)
            if !work(events: events[..<count], mayGather: true) { errand_thread_rest() }
            sleepsUntil = isGathering ? 0 : min(nextDeadline, longestSleep)
            let deadline = sleepsUntil
            let isIdle =
                active.count == parked && shortOfDescriptors.isEmpty && origins.waitingCount == 0
                && connections.isEmpty
            outbox.move(to: &outgoing)
            driver.unlock()
            outgoing.deliver()
            count = 0
            let isEmpty = queue.withLock { queue in
                queue.isOver = queue.commands.isEmpty && isIdle && queue.isRetired
                return queue.commands.isEmpty
            }
            if !isEmpty { continue }
            if queue.withLock({ $0.isOver }) { break }
            count = sockets.wait(into: &events, milliseconds: Self.timeout(until: deadline))
        }
        end()
    }

    private func end() {
        driver.lock()
        if errand_curl_enter() != 0 {
            for transfer in active { detach(transfer) }
            closeAll()
            errand_curl_leave()
        }
        var outgoing = Outbox()
        outbox.move(to: &outgoing)
        driver.unlock()
        outgoing.deliver()
    }

    private static func timeout(until deadline: UInt64) -> Int32 {
        if deadline == .max { return -1 }
        let now = Nanoseconds.now
        return deadline <= now ? 0 : Int32(Nanoseconds.milliseconds(deadline - now))
    }
}
#endif
