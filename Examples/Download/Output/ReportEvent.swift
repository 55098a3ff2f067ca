import ErrandResumableDownload

/// One URL of the command, as it is shown.
struct ReportItem: Hashable, Sendable {
    /// From 1.
    var index: Int
    /// How many there are.
    var count: Int
    /// Secrets are masked.
    var url: String
    /// The file's name as far as it is known before the server responds.
    var name: String
}

/// What happens to one URL.
enum ReportEvent: Equatable, Sendable {
    case started
    case progress(TransferStatus)
    /// Another attempt follows.
    case retry(after: Double, because: String)
    /// What had arrived cannot be used.
    case restart(because: String)
    case note(String)
    case finished(path: String, bytes: Int64, seconds: Double)
    /// A file with its name exists.
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

/// How events are shown; a pure function of what it has seen.
protocol ReportFormat: Sendable {
    mutating func texts(for event: ReportEvent, of item: ReportItem, at now: ContinuousClock.Instant) -> [ReportText]
    /// A message about the whole command.
    mutating func message(_ text: String) -> [ReportText]
    /// Whether what it shows changes with time alone: `tick(at:)` is called only then.
    var isAnimated: Bool { get }
    /// Time has passed.
    mutating func tick(at now: ContinuousClock.Instant) -> [ReportText]
    /// The last output, with how many files are complete and how many failed.
    mutating func end(complete: Int, failed: Int, status: ExitStatus) -> [ReportText]
}

extension ReportFormat {
    var isAnimated: Bool { false }
    mutating func tick(at now: ContinuousClock.Instant) -> [ReportText] { [] }
}
