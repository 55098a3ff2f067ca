#if canImport(os)
public import os

/// Records in the unified log of Apple's systems: failures as errors, the rest as information.
///
/// ```swift
/// let log = RequestLog(.line, to: OSLogSink(Logger(subsystem: "com.example.app", category: "network")))
/// ```
public struct OSLogSink: LogSink {
    private let logger: Logger

    /// - Parameter logger: of the app.
    public init(_ logger: Logger) { self.logger = logger }

    /// Logs the record's text. It holds no secret, so it is marked as public.
    public func write(_ record: LogRecord) {
        let text = record.description
        switch record.outcome {
        case .failure: logger.error("\(text, privacy: .public)")
        case .success, .cancelled: logger.info("\(text, privacy: .public)")
        }
    }
}
#endif
