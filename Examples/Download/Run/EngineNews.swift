import Errand
import ErrandResumableDownload

/// Hears what the engine notes about a download, for people who look on.
struct EngineNews: Accessory {
    let report: @Sendable (ReportEvent) -> Void

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .note(let note) = event, let notice = note.details as? DownloadNotice else { return }
        report(Self.event(notice))
    }

    static func event(_ notice: DownloadNotice) -> ReportEvent {
        switch notice {
        case .retrying(_, let wait, _, let reason):
            return .retry(after: wait / .seconds(1), because: self.reason(reason))
        case .restarting(let reason, let discarded):
            let loss = discarded > 0 ? "; \(Readable.size(discarded)) are discarded" : ""
            return .restart(because: self.reason(reason) + loss)
        case .skipping(let count): return .note("the server sends the whole file; \(Readable.size(count)) are skipped")
        default: return .note(reason(notice.description))
        }
    }

    /// Without the code and the request in front, which are for logs: `connectionLost: GET https://…: the connection …`.
    static func reason(_ text: String) -> String {
        var (text, code) = (text, "")
        if let status = text.hasPrefix("status ") ? Int(text.dropFirst(7)) : nil {
            return "the server responded with \(StatusText.of(status))"
        }
        if let colon = text.firstRange(of: ": "), text[..<colon.lowerBound].allSatisfy(\.isLetter),
            text.first?.isLowercase == true
        {
            code = String(text[..<colon.lowerBound])
            text = String(text[colon.upperBound...])
        }
        if text.hasPrefix("GET http"), let colon = text.firstRange(of: ": ") {
            text = String(text[colon.upperBound...])
        }
        return Failure.sentence(text, code: code)
    }
}
