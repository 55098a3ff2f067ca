public import ErrandLoadingIndicatorLog
public import Logging

/// Writes a request log's records to swift-log, with their fields as metadata.
///
/// ```swift
/// let log = RequestLog(to: LoggerSink(Logger(label: "http")))
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .system, accessories: [log])
/// ```
///
/// The metadata keys are `errand.activity`, `errand.parent`, `errand.kind`, `errand.label` and `errand.attempts`, and
/// the OpenTelemetry names `http.request.method`, `url.full`, `http.response.status_code`, `network.protocol.version`
/// and `error.type`. Values are masked like the record. Records are written on the log's own thread, so they carry no
/// task-local metadata.
public struct LoggerSink: LogSink {
    private let logger: Logger
    private let level: @Sendable (LogRecord) -> Logger.Level

    /// - Parameters:
    ///   - logger: the destination.
    ///   - level: the level of a record. Defaults to ``level(of:)``.
    public init(
        _ logger: Logger, level: @escaping @Sendable (LogRecord) -> Logger.Level = { LoggerSink.level(of: $0) }
    ) {
        (self.logger, self.level) = (logger, level)
    }

    /// Info for a success, debug for a cancellation, error for a failure.
    public static func level(of record: LogRecord) -> Logger.Level {
        switch record.outcome {
        case .success: .info
        case .cancelled: .debug
        case .failure: .error
        }
    }

    /// Writes a record.
    public func write(_ record: LogRecord) {
        logger.log(level: level(record), "\(record)", metadata: Self.metadata(of: record))
    }

    private static func metadata(of record: LogRecord) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "errand.activity": "\(record.id)", "errand.kind": "\(record.kind)", "errand.label": "\(record.label)",
            "errand.attempts": "\(record.attempts)",
        ]
        if let parent = record.parent { metadata["errand.parent"] = "\(parent)" }
        if let method = record.method { metadata["http.request.method"] = "\(method)" }
        if let url = record.url { metadata["url.full"] = "\(url)" }
        if let status = record.status { metadata["http.response.status_code"] = "\(status)" }
        if let version = record.version { metadata["network.protocol.version"] = "\(version)" }
        if let error = record.error { metadata["error.type"] = "\(error)" }
        return metadata
    }
}
