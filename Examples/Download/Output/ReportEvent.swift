import ErrandResumableDownload

/// One URL of the command, for display.
struct ReportItem: Hashable, Sendable {
    /// The item's number, starting at 1.
    var index: Int
    /// The total number of URLs.
    var count: Int
    /// The URL, with secrets masked.
    var url: String
    /// The file's name, as far as it's known before the server responds.
    var name: String
}

/// Something that happened to one URL.
enum ReportEvent: Equatable, Sendable {
    case started
    case progress(TransferStatus)
    /// Another attempt follows.
    case retry(after: Double, because: String)
    /// The bytes received so far can't be used.
    case restart(because: String)
    case note(String)
    case finished(path: String, bytes: Int64, seconds: Double)
    /// A file with this name exists.
    case skipped(path: String)
    case failed(message: String, ExitStatus)

    init(_ notice: TransferNotice) {
        self =
            switch notice {
            case .retrying(_, let wait, _, let reason):
                .retry(after: wait / .seconds(1), because: Failure.sentence(reason))
            case .restarting(let reason, let discarded):
                .restart(
                    because: Failure.sentence(reason)
                        + (discarded > 0 ? "; \(Readable.size(discarded)) are discarded" : ""))
            default: .note(Failure.sentence(notice.description))
            }
    }
}

/// A piece of output.
struct ReportText: Equatable, Sendable {
    enum Stream: Equatable, Sendable { case output, error }
    var stream: Stream
    var text: String

    static func output(_ text: String) -> Self { Self(stream: .output, text: text) }
    static func error(_ text: String) -> Self { Self(stream: .error, text: text) }
}

/// Turns events into output. A format is a pure function of the events it has seen.
protocol ReportFormat: Sendable {
    mutating func texts(for event: ReportEvent, of item: ReportItem, at now: ContinuousClock.Instant) -> [ReportText]
    /// A message about the whole command.
    mutating func message(_ text: String) -> [ReportText]
    /// Whether the output changes over time without events. If false, `tick(at:)` isn't called.
    var isAnimated: Bool { get }
    /// Called as time passes.
    mutating func tick(at now: ContinuousClock.Instant) -> [ReportText]
    /// The final output, with the numbers of complete and failed files.
    mutating func end(complete: Int, failed: Int, status: ExitStatus) -> [ReportText]
}

extension ReportFormat {
    var isAnimated: Bool { false }
    mutating func tick(at now: ContinuousClock.Instant) -> [ReportText] { [] }
}
