import Errand
import ErrandEssentials

/// Describes a recorded exchange.
public struct ReplayEntry: Sendable, Hashable, CustomStringConvertible {
    /// The index of the exchange in `log.entries`, from 0.
    public let index: Int
    /// The request's method.
    public let method: String
    /// The first 500 characters of the URL, with secrets masked.
    public let url: String
    /// The response's status, or 0 without a response.
    public let status: Int

    init(_ item: HARIndex.Item, _ redaction: Redaction) {
        var redactor = Redactor(redaction)
        (index, method, status) = (item.number, String(item.method.prefix(40)), item.status)
        url = String(redactor.url(item.url).prefix(500))
    }

    /// A text such as "GET https://example.com/users/7 → 200 (entry 3)".
    public var description: String { "\(method) \(url) → \(status) (entry \(index))" }
}

/// The state of a replay: which entries were used, and which requests weren't recorded.
public struct ReplayReport: Sendable, CustomStringConvertible {
    /// The number of entries that can be replayed.
    public var entryCount = 0
    /// The number of entries that can't be replayed, such as data URLs, WebSockets and `CONNECT`.
    public var ignoredEntryCount = 0
    /// The unused entries, in the order of the file.
    public var unused: [ReplayEntry] = []
    /// The entries replayed with an incomplete or missing body, because the file doesn't contain all of it.
    public var incompleteBodies: [ReplayEntry] = []
    /// The first 100 requests that weren't in the recording, with secrets masked.
    public var unmatched: [String] = []
    /// The number of newly recorded exchanges.
    public var recordedCount = 0
    /// The first 100 exchanges that were passed on but couldn't be recorded, with the reason.
    public var notRecorded: [String] = []

    /// The report in several lines, for a test's log.
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
