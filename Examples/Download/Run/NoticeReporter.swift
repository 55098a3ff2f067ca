import Errand
import ErrandResumableDownload

/// Reports the notices of a download: waits, retries and restarts.
struct NoticeReporter: Accessory {
    let report: @Sendable (ReportEvent) -> Void

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .note(let note) = event, let notice = note.details as? DownloadNotice else { return }
        report(Self.event(notice))
    }

    static func event(_ notice: DownloadNotice) -> ReportEvent {
        switch notice {
        case .retrying(_, let wait, _, let reason):
            return .retry(after: wait / .seconds(1), because: Failure.sentence(reason))
        case .restarting(let reason, let discarded):
            let loss = discarded > 0 ? "; \(Readable.size(discarded)) are discarded" : ""
            return .restart(because: Failure.sentence(reason) + loss)
        default: return .note(Failure.sentence(notice.description))
        }
    }
}
