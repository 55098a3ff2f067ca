import ErrandResumableDownload

/// Plain lines for a file or a pipe: one per 10%, or per 100 MiB if the total is unknown.
struct LineFormat: ReportFormat {
    var isQuiet: Bool
    /// Whether to print paths to standard output. False if the bytes go there.
    var showsPaths = true
    private var shown: [Int: (tenth: Int, bytes: Int64)] = [:]

    init(isQuiet: Bool, showsPaths: Bool = true) { (self.isQuiet, self.showsPaths) = (isQuiet, showsPaths) }

    mutating func texts(for event: ReportEvent, of item: ReportItem, at now: ContinuousClock.Instant) -> [ReportText] {
        let prefix = item.count > 1 ? "\(item.name): " : ""
        switch event {
        case .started: return []
        case .progress(let progress):
            guard !isQuiet, isDue(progress, item.index) else { return [] }
            return [.error(prefix + ProgressLine(progress: progress).words + "\n")]
        case .retry, .restart, .note: return isQuiet ? [] : [.error(prefix + Self.sentence(event) + "\n")]
        case .finished(let path, _, _):
            shown[item.index] = nil
            return showsPaths ? [.output(path + "\n")] : []
        case .skipped(let path):
            let note = isQuiet ? [] : [ReportText.error(prefix + Self.sentence(event) + "\n")]
            return note + (showsPaths ? [.output(path + "\n")] : [])
        case .failed(let message, _):
            shown[item.index] = nil
            return self.message(message)
        }
    }

    mutating func message(_ text: String) -> [ReportText] { [.error("errand-download: \(text)\n")] }

    mutating func end(complete: Int, failed: Int, status: ExitStatus) -> [ReportText] { [] }

    private mutating func isDue(_ progress: TransferStatus, _ index: Int) -> Bool {
        if progress.transferred == 0, progress.total != 0 { return false }
        let tenth = progress.fraction.map { Int($0 * 10) } ?? -1
        if let last = shown[index], tenth >= 0 ? tenth <= last.tenth : progress.transferred - last.bytes < 100 << 20 {
            return false
        }
        shown[index] = (tenth, progress.transferred)
        return true
    }

    /// An event in words.
    static func sentence(_ event: ReportEvent) -> String {
        switch event {
        case .retry(let seconds, let reason):
            "\(reason); "
                + (seconds < 0.05 ? "another attempt follows" : "another attempt in \(Readable.wait(seconds))")
        case .restart(let reason): "starts over: \(reason)"
        case .note(let text): text
        case .skipped(let path): "\(TextLayout.printable(path)) exists and is left alone"
        default: ""
        }
    }
}
