import Errand
import ErrandEssentials

/// A description of a recorded exchange.
public struct ReplayEntry: Sendable, Hashable, CustomStringConvertible {
    /// The index of the exchange in `log.entries`, from 0.
    public let index: Int
    /// The request's method.
    public let method: String
    /// The first 500 characters of the URL. Secrets in it are masked.
    public let url: String
    /// The status of the response. It's 0 if the recording doesn't contain a response.
    public let status: Int

    init(_ item: HARIndex.Item, _ redaction: Redaction) {
        var redactor = Redactor(redaction)
        (index, method, status) = (item.number, String(item.method.prefix(40)), item.status)
        url = String(redactor.url(item.url).prefix(500))
    }

    /// A text such as "GET https://example.com/users/7 → 200 (entry 3)".
    public var description: String { "\(method) \(url) → \(status) (entry \(index))" }
}

/// The state of a replay. It shows which entries were used, and which requests weren't recorded.
public struct ReplayReport: Sendable, CustomStringConvertible {
    /// The number of entries that can be replayed.
    public var entryCount = 0
    /// The number of entries that can't be replayed, such as data URLs, WebSockets and `CONNECT`.
    public var ignoredEntryCount = 0
    /// The entries that weren't used, in the order of the file.
    public var unused: [ReplayEntry] = []
    /// The entries that were replayed with an incomplete body or without a body, because the file doesn't contain the
    /// whole body.
    public var incompleteBodies: [ReplayEntry] = []
    /// The first 100 requests that weren't in the recording. Secrets in them are masked.
    public var unmatched: [String] = []
    /// The number of exchanges that were recorded during the replay.
    public var recordedCount = 0
    /// The first 100 exchanges that were sent with the mode's transport but couldn't be recorded. Each text contains
    /// the reason.
    public var notRecorded: [String] = []

    /// The report as several lines of text, for a test's log.
    public var description: String {
        let used = entryCount - unused.count
        var lines = ["\(used) of \(entryCount) entries were used, \(recordedCount) recorded"]
        lines += unused.prefix(20).map { "unused: \($0)" }
        if unused.count > 20 { lines.append("and \(unused.count - 20) more are unused") }
        lines += incompleteBodies.map { "incomplete body: \($0)" }
        lines += unmatched.map { "not in the recording: \($0)" }
        lines += notRecorded.map { "not recorded: \($0)" }
        return lines.joined(separator: "\n  ")
    }
}
