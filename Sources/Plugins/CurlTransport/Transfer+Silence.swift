#if os(Linux)
import Errand
import Synchronization

extension Transfer {
    /// Nil while the transfer waits for a connection or for us: that is not the server's silence.
    var silenceDeadline: UInt64? {
        guard usesLoopClock, hasStarted, !isReceivePaused, !isSendPaused else { return nil }
        let (deadline, isBeyond) = lastHeard.addingReportingOverflow(patience)
        return isBeyond ? nil : deadline
    }

    var silenceError: ErrandError {
        ErrandError(.timedOut, "nothing was heard for \(options.timeout)")
    }

    func heardByClock() {
        let now = options.time.now
        shared.withLock { $0.lastHeard = now }
    }

    /// Ends the transfer after a silence on a clock that is not the system's.
    func watchSilence() async {
        while true {
            let (last, isOver) = shared.withLock { ($0.lastHeard, $0.isOver || $0.isCancelled) }
            guard let last, !isOver else { return }
            do { try await options.time.sleep(until: last + options.timeout) } catch { return }
            let now = options.time.now
            let isSilent = shared.withLock { shared in
                if shared.isPaused || shared.isSendPaused { shared.lastHeard = now }
                return shared.lastHeard.map { $0 + options.timeout <= now } ?? false
            }
            if isSilent { return loop.submit(.silence(self)) }
        }
    }
}
#endif
