/// Where records go: the seam to a file, a screen, a logging system.
///
/// ```swift
/// struct Console: LogSink {
///     func write(_ record: LogRecord) { print(record) }
/// }
/// ```
///
/// Told one record after the other, in the order of the ends, on a thread that belongs to the log: a sink may block, and
/// holds up no request.
public protocol LogSink: Sendable {
    /// Writes one record.
    func write(_ record: LogRecord)
}

/// A closure as a sink.
public struct ClosureSink: LogSink {
    private let body: @Sendable (LogRecord) -> Void

    /// - Parameter body: called as ``LogSink/write(_:)`` is.
    public init(_ body: @escaping @Sendable (LogRecord) -> Void) { self.body = body }

    /// Calls the closure.
    public func write(_ record: LogRecord) { body(record) }
}
