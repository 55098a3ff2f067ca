import Errand
import ErrandEssentials
import ErrandTransfers

/// Counts the bytes of a download; what was reported never falls.
typealias ProgressMeter = TransferMeter<DownloadState>

extension TransferMeter where Phase == DownloadState {
    convenience init(
        interval: Duration, time: any TimeSource, deliver: @escaping @Sendable (DownloadProgress) -> Void
    ) {
        self.init(
            interval: interval, mayFall: false, now: { time.now }, sleep: { try await time.sleep(until: $0) },
            deliver: { report in
                deliver(
                    DownloadProgress(
                        received: report.count, total: report.total, rate: report.rate, timeLeft: report.timeLeft,
                        state: report.phase))
            })
    }
}

extension DownloadState: TransferPhase {
    package static var moving: DownloadState { .receiving }

    package var showsRate: Bool { [.connecting, .receiving, .verifying, .finished].contains(self) }
}
