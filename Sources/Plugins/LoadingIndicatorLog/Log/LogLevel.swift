/// How much of a request a log tells.
public enum LogLevel: Sendable, Hashable {
    /// Nothing.
    case off
    /// One line when it has ended.
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
