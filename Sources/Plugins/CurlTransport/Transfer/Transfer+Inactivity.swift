#if os(Linux) || os(Android)
import Errand
import Synchronization

extension Transfer {
    /// When the transfer times out. `nil` while the transfer waits only for its reader, its body's source, or a free
    /// connection.
    var deadline: UInt64? {
        let limits = limits
        let deadline = min(limits.inactivity, limits.connection)
        return deadline == .max ? nil : deadline
    }

    var overdueError: ErrandError {
        let limits = limits
        return limits.inactivity <= limits.connection
            ? inactivityError : ErrandError(.timedOut, CurlFailure.connectionTimeout)
    }

    private var limits: (inactivity: UInt64, connection: UInt64) {
        if isParked { return (.max, .max) }
        if !hasStarted {
            // libcurl makes requests wait, without a limit, until the first connection to their host is open.
            guard sharesConnection, let origin else { return (.max, .max) }
            let start = loop.sockets.waitStart(origin, since: begun, now: loop.now)
            return (
                usesLoopClock ? Nanoseconds.sum(start, inactivityLimit) : .max,
                Nanoseconds.sum(start, loop.connectTimeout)
            )
        }
        let canBeInactive = usesLoopClock && !isReceivePaused && !isSendPaused
        let isConnecting = !isRequested && loop.library.reportsAttempts
        return (
            canBeInactive ? Nanoseconds.sum(lastActivity, inactivityLimit) : .max,
            isConnecting ? Nanoseconds.sum(connecting, loop.connectTimeout) : .max
        )
    }

    /// Excludes the time in which bytes waited for the reader, because this isn't the server's inactivity.
    func excuseReader() {
        let start = shared.withLock { $0.isUnread ? loop.now : $0.emptied }
        lastActivity = max(lastActivity, start)
    }

    var inactivityError: ErrandError {
        ErrandError(.timedOut, "the server sent or received no bytes for \(duration: options.timeout)")
    }

    func noteActivityByClock() {
        let now = options.time.now
        shared.withLock { $0.lastActivity = now }
    }

    /// Watches the transfer with its own clock. If it uses the system's clock, the loop itself watches it.
    func startWatch() {
        if usesLoopClock || watch != nil { return }
        watch = Task.detached {
            self.noteActivityByClock()
            await self.watchInactivity()
        }
    }

    private func watchInactivity() async {
        while true {
            let (last, isOver) = shared.withLock { ($0.lastActivity, $0.isOver || $0.isCancelled) }
            guard let last, !isOver else { return }
            await options.time.wait(until: last + options.timeout)
            if Task.isCancelled { return }
            let now = options.time.now
            let isInactive = shared.withLock { shared in
                if shared.isPaused || shared.isSendPaused || shared.isUnread { shared.lastActivity = now }
                let isInactive = shared.lastActivity.map { $0 + options.timeout <= now } ?? false
                // The loop decides whether the transfer ends, because it knows why the transfer waits. Meanwhile,
                // another period begins.
                if isInactive { shared.lastActivity = now }
                return isInactive
            }
            if isInactive { loop.submit(.inactivity(self, noticed: Nanoseconds.now)) }
        }
    }
}
#endif
