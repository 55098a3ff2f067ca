#if canImport(os)
public import os

/// A sink that writes records to Apple's unified log. Failures are logged at the error level, and other records at the
/// info level.
///
/// ```swift
/// let log = RequestLog(.line, to: OSLogSink(Logger(subsystem: "com.example.app", category: "network")))
/// ```
public struct OSLogSink: LogSink {
    private let logger: Logger

    /// Creates a sink.
    public init(_ logger: Logger) { self.logger = logger }

    /// Logs the record's text. The text is logged as public, because it doesn't contain secrets.
    public func write(_ record: LogRecord) {
        let text = record.description
        switch record.outcome {
        case .failure: logger.error("\(text, privacy: .public)")
        case .success, .cancelled: logger.info("\(text, privacy: .public)")
        }
    }
}
#endif
