public import Errand

// To add a field, also extend `RequestLog.activity`, the `LogDraft` method for its event, and `LogDraft.record(of:)`.

/// The record of a finished activity, as text and as fields. A sink writes it. A record never contains secrets.
public struct LogRecord: Sendable, CustomStringConvertible {
    /// The ways in which an activity can end. Later versions won't add cases.
    public enum Outcome: String, Sendable {
        /// The activity succeeded.
        case success
        /// The activity failed. See ``LogRecord/error``.
        case failure
        /// The activity was cancelled.
        case cancelled
    }

    /// The activity's ID, counted from 1 in each process.
    public let id: Activity.ID
    /// The batch, chain or request that the activity belongs to.
    public let parent: Activity.ID?
    /// The kind of activity, such as a request or a batch.
    public let kind: ActivityKind
    /// The activity's label, or the request's type.
    public let label: String
    /// How the activity ended.
    public let outcome: Outcome
    /// The method of the last request that was sent. If the activity didn't send a request, this is the method of the
    /// request that it built.
    public internal(set) var method: String?
    /// The URL of the same request as ``method``, without credentials and fragment. Secret query items are masked.
    public internal(set) var url: String?
    /// The status of the last response, if there is one.
    public internal(set) var status: Int?
    /// The reason why the activity failed. It's the code of an ``Errand/ErrandError``, or the type of another error.
    /// It's nil if the activity didn't fail.
    public internal(set) var error: String?
    /// The place where the response came from: "network", or "cache" with the response's age and the reason.
    public internal(set) var source: String?
    /// The HTTP version of the last response, such as "1.1", "2" or "3". It's nil if the transport didn't report a
    /// version.
    public internal(set) var version: String?
    /// The time that the activity took, from `willStart` to `willStop`.
    public let duration: Duration
    /// The number of body bytes that the transport reported as sent.
    public internal(set) var bytesSent: Int64 = 0
    /// The number of body bytes that the transport reported as received.
    public internal(set) var bytesReceived: Int64 = 0
    /// The number of attempts, or 0 if the request was never sent.
    public internal(set) var attempts = 0
    /// The number of requests in all attempts, including redirects.
    public internal(set) var requests = 0
    /// The header lines of the last request. They are logged from the level `.headers` on.
    public internal(set) var requestHeaders: [String] = []
    /// The header lines of the last response. They are logged from the level `.headers` on.
    public internal(set) var responseHeaders: [String] = []
    /// The body of the last request: indented JSON, text, or a description of its size. It's logged from the level
    /// `.bodies` on.
    public internal(set) var requestBody: String?
    /// The body of the last response, in the same form as ``requestBody``.
    public internal(set) var responseBody: String?
    /// The amount of data that a live stream has received. It's nil for other activities.
    public internal(set) var stream: StreamCount?
    /// The number of records that were dropped before this record, because the sink was too slow.
    public internal(set) var dropped = 0

    /// The record on one line: `#7 GET https://example.com/users/7 → 200, network, HTTP/2, 12.3 ms, 512 bytes`
    public var line: String {
        // The line isn't built with interpolation, because that would create temporary strings.
        var line = ""
        line.reserveCapacity(128)
        line += id.description
        line += " "
        if let url {
            line += method ?? ""
            line += " "
            line += url
        } else {
            line += label == kind.rawValue ? label : "\(kind) \(label)"
        }
        line += " → "
        line += outcomeText
        if let source {
            line += ", "
            line += source
        }
        if let version {
            line += ", HTTP/"
            line += version
        }
        line += ", "
        Self.append(duration, to: &line)
        if bytesSent > 0 { line += ", \(bytesSent) bytes sent" }
        if let stream { line += ", \(stream)" } else if bytesReceived > 0 { line += ", \(bytesReceived) bytes" }
        if attempts > 1 { line += ", \(attempts) attempts" }
        if requests > attempts { line += ", \(requests) requests" }
        if dropped > 0 { line += " (\(dropped) earlier records were dropped)" }
        return line
    }

    /// The record's line, followed by the details of the log's level. `>` marks lines that were sent, and `<` marks
    /// lines that were received.
    public var description: String {
        var lines = [line]
        lines += requestHeaders.map { "  > \($0)" }
        lines += Self.indented(requestBody, "  > ")
        lines += responseHeaders.map { "  < \($0)" }
        lines += Self.indented(responseBody, "  < ")
        return lines.joined(separator: "\n")
    }

    private var outcomeText: String {
        let status = status.map { String($0) }
        switch outcome {
        case .success: return status ?? "success"
        case .failure: return [status, error].compactMap(\.self).joined(separator: " ")
        case .cancelled: return "cancelled"
        }
    }

    private static func indented(_ text: String?, _ mark: String) -> [String] {
        text.map { $0.split(separator: "\n", omittingEmptySubsequences: false).map { mark + $0 } } ?? []
    }

    private static func append(_ duration: Duration, to line: inout String) {
        let (seconds, attoseconds) = duration.bounded.components
        let tenths = seconds * 10_000 + (attoseconds + 50_000_000_000_000) / 100_000_000_000_000
        line += String(tenths / 10)
        line += "."
        line += String(tenths % 10)
        line += " ms"
    }
}
