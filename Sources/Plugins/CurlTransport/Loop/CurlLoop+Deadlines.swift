#if os(Linux) || os(Android)
import CErrandCurl
import Errand

// The methods in this extension run under the driver lock.
extension CurlLoop {
    func expectDeadline(of transfer: Transfer) {
        if let deadline = transfer.deadline { nextDeadlineCheck = min(nextDeadlineCheck, deadline) }
    }

    func checkDeadlines() {
        nextDeadlineCheck = .max
        // Removing a transfer lets another one begin, so check all deadlines first.
        var overdue: [(Transfer, ErrandError)] = []
        for transfer in active {
            guard var deadline = transfer.deadline else { continue }
            if deadline <= now {
                transfer.excuseReader()
                deadline = transfer.deadline ?? .max
            }
            if deadline <= now {
                overdue.append((transfer, transfer.overdueError))
            } else {
                nextDeadlineCheck = min(nextDeadlineCheck, deadline)
            }
        }
        for (transfer, error) in overdue { drop(transfer, with: error) }
    }

    /// Ends a transfer that is inactive for too long. Waiting for a free connection isn't inactivity.
    func endInactivity(of transfer: Transfer) {
        if transfer.index != nil && !transfer.hasStarted {
            if !transfer.sharesConnection || transfer.origin.map({ sockets.isFull($0) }) ?? true { return }
        }
        drop(transfer, with: transfer.inactivityError)
    }

    func endIdleConnections() {
        nextKeepAliveCheck = .max
        // If a transfer's connection is unknown, as before libcurl 7.80, it may be any connection, so keep all of them.
        let isUnclear = active.contains { transfer in
            transfer.held.isEmpty && !transfer.isParked && (transfer.isRequested || !library.reportsAttempts)
        }
        if isUnclear {
            nextKeepAliveCheck = Nanoseconds.sum(now, keepAliveTime)
        } else if active.isEmpty {
            let end = Nanoseconds.sum(lastEnd, keepAliveTime)
            if end > now { nextKeepAliveCheck = end } else { closeAll() }
        } else {
            let oldest = sockets.endIdle(since: now > keepAliveTime ? now - keepAliveTime : 0)
            nextKeepAliveCheck = Nanoseconds.sum(oldest ?? now, keepAliveTime)
        }
    }

    func lookForDescriptors() {
        let isOver = DescriptorShortage.isOver
        let (late, next) = shortOfDescriptors.due(at: now, hasDescriptors: isOver)
        for transfer in late { deferredWork.add(transfer.finish(transfer.descriptorError, nil)) }
        for transfer in next {
            begin(transfer)
            if transfer.index == nil { deferredWork.add(.release(transfer)) }
        }
        if isOver || shortOfDescriptors.isEmpty { return }
        if active.isEmpty { closeAll() } else { _ = sockets.endIdle(since: now) }
    }
}
#endif
