/// How much detail a log writes.
public enum LogLevel: Sendable, Hashable {
    /// Turns the log off.
    case off
    /// One line per finished request.
    case line
    /// The line, and the header fields of the last request and its response.
    case headers
    /// The line, the header fields, and up to this many bytes of each body.
    case bodies(upTo: Int)

    var maximumBodyBytes: Int {
        if case .bodies(let limit) = self { return max(0, limit) }
        return 0
    }

    var hasHeaders: Bool { self != .off && self != .line }
}
