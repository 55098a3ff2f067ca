/// How much of a request a log writes.
public enum LogLevel: Sendable, Hashable {
    /// Nothing.
    case off
    /// One line for each request that has ended.
    case line
    /// The line, and the header fields of the last request and its response.
    case headers
    /// Those, and at most that many bytes of each body.
    case bodies(upTo: Int)

    var bodyByteLimit: Int {
        if case .bodies(let limit) = self { return max(0, limit) }
        return 0
    }

    var hasHeaders: Bool { self != .off && self != .line }
}
