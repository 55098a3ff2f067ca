/// The amount of detail that a log writes.
public enum LogLevel: Sendable, Hashable {
    /// Nothing.
    case off
    /// One line for each request that has ended.
    case line
    /// The line, and the header fields of the last request and its response.
    case headers
    /// The header fields, and at most this many bytes of each body.
    case bodies(upTo: Int)

    var maximumBodyBytes: Int {
        if case .bodies(let limit) = self { return max(0, limit) }
        return 0
    }

    var hasHeaders: Bool { self != .off && self != .line }
}
