import ErrandResumableDownload

/// One JSON object per line. Fields may be added but are never removed; a field without a value is null.
struct JSONFormat: ReportFormat {
    /// The stream for the objects: standard error if the bytes go to standard output.
    var stream = ReportText.Stream.output

    mutating func texts(for event: ReportEvent, of item: ReportItem, at now: ContinuousClock.Instant) -> [ReportText] {
        var fields: [(String, Value)] = [
            ("event", .text(Self.name(event))), ("index", .number(Int64(item.index))), ("url", .text(item.url)),
        ]
        switch event {
        case .started: fields.append(("count", .number(Int64(item.count))))
        case .progress(let progress):
            fields += [
                ("received", .number(progress.transferred)), ("total", progress.total.map { .number($0) } ?? .null),
                ("rate", .number(Int64(min(progress.rate.rounded(), 1e18)))),
                ("seconds_left", progress.timeLeft.map { .number($0.components.seconds) } ?? .null),
                ("state", .text(Self.name(progress.state))),
            ]
        case .retry(let seconds, let reason):
            fields += [("wait_seconds", .decimal(seconds)), ("reason", .text(reason))]
        case .restart(let reason): fields.append(("reason", .text(reason)))
        case .note(let text): fields.append(("message", .text(text)))
        case .finished(let path, let bytes, let seconds):
            fields += [("path", .text(path)), ("size", .number(bytes)), ("seconds", .decimal(seconds))]
        case .skipped(let path): fields.append(("path", .text(path)))
        case .failed(let message, let status):
            fields += [("message", .text(message)), ("status", .number(Int64(status.rawValue)))]
        }
        let line = ReportText(stream: stream, text: Self.object(fields) + "\n")
        if case .failed(let message, _) = event { return [line] + self.message(message) }
        return [line]
    }

    /// Messages are for people, so they go to standard error.
    mutating func message(_ text: String) -> [ReportText] { [.error("errand-download: \(text)\n")] }

    mutating func end(complete: Int, failed: Int, status: ExitStatus) -> [ReportText] {
        let fields: [(String, Value)] = [
            ("event", .text("end")), ("complete", .number(Int64(complete))), ("failed", .number(Int64(failed))),
            ("status", .number(Int64(status.rawValue))),
        ]
        return [ReportText(stream: stream, text: Self.object(fields) + "\n")]
    }

    private static func name(_ event: ReportEvent) -> String {
        switch event {
        case .started: "start"
        case .progress: "progress"
        case .retry: "retry"
        case .restart: "restart"
        case .note: "note"
        case .finished: "finished"
        case .skipped: "skipped"
        case .failed: "failed"
        }
    }

    private static func name(_ state: TransferState) -> String {
        switch state {
        case .queued: "queued"
        case .connecting: "connecting"
        case .stalled: "stalled"
        case .paused: "paused"
        case .waiting: "waiting"
        case .verifying: "verifying"
        case .finished: "finished"
        case .interrupted: "interrupted"
        default: "receiving"
        }
    }

    enum Value {
        case text(String)
        case number(Int64)
        case decimal(Double)
        case null
    }

    static func object(_ fields: [(String, Value)]) -> String {
        "{" + fields.map { "\(quoted($0.0)):\(text($0.1))" }.joined(separator: ",") + "}"
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .text(let text): return quoted(text)
        case .number(let number): return "\(number)"
        case .decimal(let number):
            let thousandths = Int64((min(max(number, 0), 1e15) * 1000).rounded())
            return "\(thousandths / 1000).\("\(thousandths % 1000)".leading(3))"
        case .null: return "null"
        }
    }

    /// Returns a text as a JSON string (RFC 8259, section 7).
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                result += "\\u" + String(scalar.value, radix: 16).leading(4)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
