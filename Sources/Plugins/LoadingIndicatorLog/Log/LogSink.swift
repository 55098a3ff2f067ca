/// The destination of records: the seam to a file, a screen, a logging system.
///
/// ```swift
/// struct Console: LogSink {
///     func write(_ record: LogRecord) { print(record) }
/// }
/// ```
///
/// Receives one record after the other, in the order in which the activities ended, on a thread of the log's own: a sink
/// that blocks delays no request.
public protocol LogSink: Sendable {
    /// Writes one record.
    func write(_ record: LogRecord)
}

/// A sink that calls a closure for each record.
public struct ClosureSink: LogSink {
    private let body: @Sendable (LogRecord) -> Void

    /// - Parameter body: the closure; called like ``LogSink/write(_:)``.
    public init(_ body: @escaping @Sendable (LogRecord) -> Void) { self.body = body }

    /// Calls the closure.
    public func write(_ record: LogRecord) { body(record) }
}
