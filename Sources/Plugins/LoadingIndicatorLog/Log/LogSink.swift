/// Writes log records, for example to a file, a screen or a logging system.
///
/// ```swift
/// struct Console: LogSink {
///     func write(_ record: LogRecord) { print(record) }
/// }
/// ```
///
/// A sink receives one record at a time, in the order in which the activities ended. It runs on the log's own thread,
/// so a sink that blocks doesn't delay requests.
public protocol LogSink: Sendable {
    /// Writes one record.
    func write(_ record: LogRecord)
}

/// A sink that calls a closure for each record.
public struct ClosureSink: LogSink {
    private let body: @Sendable (LogRecord) -> Void

    /// Creates a sink. It calls the closure like ``LogSink/write(_:)``.
    public init(_ body: @escaping @Sendable (LogRecord) -> Void) { self.body = body }

    /// Calls the closure.
    public func write(_ record: LogRecord) { body(record) }
}
