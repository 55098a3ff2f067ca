#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import Synchronization

// Delivers events to user code: accessories, progress listeners, a time source, a body's source. User code must not run
// under the loop's driver lock, so events are queued under the lock and delivered elsewhere, in order.
extension Transfer {
    enum Report: Sendable {
        case event(TransportEvent)
        /// Bytes were sent or received, for a clock other than the system's.
        case activity
        /// The source of the request's body can stop.
        case sourceIsDone

        var isProgress: Bool { if case .event(.progress) = self { true } else { false } }
        var isActivity: Bool { if case .activity = self { true } else { false } }
    }

    struct Reports {
        var queued: [Report] = []
        var isDelivering = false
        var isScheduled = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The number of queued reports at which new progress replaces the last progress. The number of other events is
    /// bounded by the limit on header bytes.
    private static let queuedReports = 16

    /// Queues a report. If `soon` is true, a new task delivers the report. Otherwise, the task that waits for the
    /// transfer delivers it.
    func report(_ report: Report, soon: Bool = true) {
        reports.withLock { reports in
            if report.isActivity, reports.queued.last?.isActivity == true { return }
            if report.isProgress, reports.queued.count >= Self.queuedReports, reports.queued.last?.isProgress == true {
                reports.queued[reports.queued.count - 1] = report
            } else {
                reports.queued.append(report)
            }
        }
        if soon { deliverReportsSoon() }
    }

    func deliverReportsSoon() {
        let isFirst = reports.withLock { reports in
            if reports.isScheduled || reports.isDelivering || reports.queued.isEmpty { return false }
            reports.isScheduled = true
            return true
        }
        if isFirst { Task.detached { await self.deliverReports(waits: false) } }
    }

    var hasReports: Bool { reports.withLock { !$0.queued.isEmpty || $0.isDelivering } }

    /// Delivers the queued reports. With `waits`, returns once all earlier reports have been delivered, possibly by
    /// another task.
    func deliverReports(waits: Bool) async {
        while let queued = reports.withLock({ Self.next(&$0) }) {
            if !queued.isEmpty {
                for report in queued { deliver(report) }
                let waiting = reports.withLock { reports in
                    defer { (reports.isDelivering, reports.waiting) = (false, []) }
                    return reports.waiting
                }
                for continuation in waiting { continuation.resume() }
            } else if waits {
                await withCheckedContinuation { continuation in
                    let isOver = reports.withLock { reports in
                        if reports.isDelivering { reports.waiting.append(continuation) }
                        return !reports.isDelivering
                    }
                    if isOver { continuation.resume() }
                }
            } else {
                return
            }
        }
    }

    private static func next(_ reports: inout Reports) -> [Report]? {
        if reports.isDelivering { return [] }
        reports.isScheduled = false
        if reports.queued.isEmpty { return nil }
        reports.isDelivering = true
        defer { reports.queued = [] }
        return reports.queued
    }

    private func deliver(_ report: Report) {
        switch report {
        case .event(let event): options.report(event)
        case .activity: noteActivityByClock()
        case .sourceIsDone: upload.stop()
        }
    }
}

/// Times that libcurl doesn't measure or measures incorrectly. For example, if it reads a request body, it reports the
/// start of the transfer when it reads the first byte.
struct WireTimes {
    var requestSent: UInt64?
    /// When the first byte of the response arrived. Informational responses don't count.
    var firstByte: UInt64?

    mutating func restart(at now: UInt64, hasBody: Bool) {
        firstByte = nil
        requestSent = hasBody ? nil : now
    }
}

extension EasyHandle {
    var bytesSent: Int64 { max(0, easy.offset(ERRAND_CURLINFO_SIZE_UPLOAD_T)) }

    /// Returns a transfer's timings. Times count from the call of `send`.
    func timings(of transfer: Transfer) -> TransferTimings {
        var timings = TransferTimings()
        let isReused = transfer.hasStarted && easy.long(ERRAND_CURLINFO_NUM_CONNECTS) == 0
        timings.queued = transfer.queued
        if transfer.hasStarted { timings.isReusedConnection = isReused }
        if !isReused {
            // libcurl counts from the moment when the transfer stopped waiting, so add the time that it waited.
            let start = transfer.queued ?? .zero
            timings.nameLookup = time(ERRAND_CURLINFO_NAMELOOKUP_TIME_T).map { start + $0 }
            timings.connected = time(ERRAND_CURLINFO_CONNECT_TIME_T).map { start + $0 }
            timings.secured = time(ERRAND_CURLINFO_APPCONNECT_TIME_T).map { start + $0 }
        }
        timings.requestSent = transfer.times.requestSent.map(transfer.sinceStart)
        timings.firstByte = transfer.times.firstByte.map(transfer.sinceStart)
        timings.total = transfer.sinceStart(Nanoseconds.now)
        timings.bytesSent = bytesSent
        timings.bytesReceived = easy.offset(ERRAND_CURLINFO_SIZE_DOWNLOAD_T)
        timings.httpVersion = transfer.head.version
        if let address = easy.text(ERRAND_CURLINFO_PRIMARY_IP) { timings.remoteAddress = address }
        return timings
    }

    private func time(_ info: Int32) -> Duration? {
        let microseconds = easy.offset(info)
        return microseconds > 0 ? .microseconds(microseconds) : nil
    }
}

extension Transfer {
    fileprivate func sinceStart(_ instant: UInt64) -> Duration {
        .nanoseconds(Int64(clamping: instant > created ? instant - created : 0))
    }
}
#endif
