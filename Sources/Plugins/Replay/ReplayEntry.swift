import Errand
import ErrandEssentials

/// One recorded exchange, identified for people.
public struct ReplayEntry: Sendable, Hashable, CustomStringConvertible {
    /// The index of the exchange in `log.entries`, from 0.
    public let index: Int
    /// The method.
    public let method: String
    /// The URL, secrets masked, at most 500 characters of it.
    public let url: String
    /// The status; 0 where there was no response.
    public let status: Int

    init(_ item: HARIndex.Item, _ redaction: Redaction) {
        var redactor = Redactor(redaction)
        (index, method, status) = (item.number, String(item.method.prefix(40)), item.status)
        url = String(redactor.url(item.url).prefix(500))
    }

    /// "GET https://example.com/users/7 → 200 (entry 3)".
    public var description: String { "\(method) \(url) → \(status) (entry \(index))" }
}

/// The state of a replay: the entries that were used, and the requests that were not recorded.
public struct ReplayReport: Sendable, CustomStringConvertible {
    /// The number of entries that can be replayed.
    public var entryCount = 0
    /// The number of entries that are no requests over HTTP: data URLs, WebSockets, `CONNECT`.
    public var ignoredEntryCount = 0
    /// Entries that no request has used, in the order of the file.
    public var unused: [ReplayEntry] = []
    /// Entries that were replayed without their body, or with its beginning, because the file does not contain more.
    public var incompleteBodies: [ReplayEntry] = []
    /// Requests that were not in the recording, secrets masked; the first hundred.
    public var unmatched: [String] = []
    /// The number of exchanges that were newly recorded.
    public var recordedCount = 0
    /// Exchanges that were passed on and could not be recorded, with the reason; the first hundred.
    public var notRecorded: [String] = []

    /// Several lines for a test's log.
    public var description: String {
        let used = entryCount - unused.count
        var lines = ["\(used) of \(entryCount) entries were used, \(recordedCount) recorded"]
        lines += unused.prefix(20).map { "unused: \($0)" }
        if unused.count > 20 { lines.append("and \(unused.count - 20) more are unused") }
        lines += incompleteBodies.map { "without its whole body: \($0)" }
        lines += unmatched.map { "not in the recording: \($0)" }
        lines += notRecorded.map { "not recorded: \($0)" }
        return lines.joined(separator: "\n  ")
    }
}
