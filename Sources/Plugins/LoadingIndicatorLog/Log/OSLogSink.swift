#if canImport(os)
public import os

/// Records in the unified log of Apple's systems: failures as errors, the rest as information.
///
/// ```swift
/// let log = RequestLog(.line, to: OSLogSink(Logger(subsystem: "com.example.app", category: "network")))
/// ```
public struct OSLogSink: LogSink {
    private let logger: Logger

    /// - Parameter logger: the logger that receives the records.
    public init(_ logger: Logger) { self.logger = logger }

    /// Logs the record's text, marked as public since it holds no secret.
    public func write(_ record: LogRecord) {
        let text = record.description
        switch record.outcome {
        case .failure: logger.error("\(text, privacy: .public)")
        case .success, .cancelled: logger.info("\(text, privacy: .public)")
        }
    }
}
#endif
