#if os(Linux) || os(Android)
import CErrandCurl
import Errand

/// Times that libcurl doesn't measure, or measures incorrectly: if it reads a body, its "start of the transfer" is the
/// body's first byte.
struct WireTimes {
    var requestSent: UInt64?
    /// Informational responses don't count.
    var firstByte: UInt64?

    /// A request begins on a connection, possibly for the second time.
    mutating func restart(at now: UInt64, hasBody: Bool) {
        firstByte = nil
        requestSent = hasBody ? nil : now
    }
}

extension EasyHandle {
    var bytesSent: Int64 { max(0, easy.offset(ERRAND_CURLINFO_SIZE_UPLOAD_T)) }

    /// Returns when the parts of a transfer ended, counted from the call of `send`.
    func timings(of transfer: Transfer) -> TransferTimings {
        var timings = TransferTimings()
        let isReused = transfer.hasStarted && easy.long(ERRAND_CURLINFO_NUM_CONNECTS) == 0
        timings.queued = transfer.queued
        if transfer.hasStarted { timings.isReusedConnection = isReused }
        if !isReused {
            // libcurl counts from the moment the transfer stopped waiting.
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
