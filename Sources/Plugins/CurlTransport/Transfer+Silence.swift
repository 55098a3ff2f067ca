#if os(Linux)
import Errand
import Synchronization

extension Transfer {
    /// When the loop ends this transfer unless something happens before; nil while nothing but its own reader or the
    /// source of its own body is waited for, or a free connection.
    var deadline: UInt64? {
        let limits = limits
        let deadline = min(limits.silence, limits.connection)
        return deadline == .max ? nil : deadline
    }

    /// What a passed deadline means.
    var overdueError: ErrandError {
        let limits = limits
        return limits.silence <= limits.connection
            ? silenceError : ErrandError(.timedOut, "the connection was not made in time")
    }

    /// When a silence is too long, and when the connection should have been made.
    private var limits: (silence: UInt64, connection: UInt64) {
        if isParked { return (.max, .max) }
        if !hasStarted {
            // libcurl holds requests back until the first connection to their host is made, and watches none of them.
            guard let origin else { return (.max, .max) }
            let start = loop.sockets.waitStart(origin, since: begun, now: loop.now)
            return (usesLoopClock ? Self.sum(start, patience) : .max, Self.sum(start, loop.connectPatience))
        }
        let isSilence = usesLoopClock && !isReceivePaused && !isSendPaused
        let isConnecting = !isRequested && loop.library.tellsRequestStart
        return (
            isSilence ? Self.sum(lastHeard, patience) : .max,
            isConnecting ? Self.sum(connecting, loop.connectPatience) : .max
        )
    }

    var silenceError: ErrandError {
        ErrandError(.timedOut, "nothing was heard for \(options.timeout)")
    }

    private static func sum(_ instant: UInt64, _ nanoseconds: UInt64) -> UInt64 {
        let (sum, isBeyond) = instant.addingReportingOverflow(nanoseconds)
        return isBeyond ? .max : sum
    }

    func heardByClock() {
        let now = options.time.now
        shared.withLock { $0.lastHeard = now }
    }

    /// Starts to watch for a silence where the clock is not the system's.
    func startWatch() {
        if usesLoopClock || watch != nil { return }
        watch = Task.detached {
            self.heardByClock()
            await self.watchSilence()
        }
    }

    /// Ends the transfer after a silence on a clock that is not the system's.
    private func watchSilence() async {
        while true {
            let (last, isOver) = shared.withLock { ($0.lastHeard, $0.isOver || $0.isCancelled) }
            guard let last, !isOver else { return }
            do { try await options.time.sleep(until: last + options.timeout) } catch { return }
            let now = options.time.now
            let (isSilent, isQueued) = shared.withLock { shared in
                if shared.isPaused || shared.isSendPaused { shared.lastHeard = now }
                let isSilent = shared.lastHeard.map { $0 + options.timeout <= now } ?? false
                if isSilent && shared.isQueued { shared.lastHeard = now }
                return (isSilent, shared.isQueued)
            }
            if !isSilent { continue }
            // What a transfer without a connection waits for is known to the loop.
            loop.submit(.silence(self))
            if !isQueued { return }
        }
    }
}
#endif
