public import Errand

// To add a field, also extend `RequestLog.activity`, the `LogDraft` method for its event, and `LogDraft.record(of:)`.

/// A finished activity for a sink to write, as text and as fields. It never contains secrets.
public struct LogRecord: Sendable, CustomStringConvertible {
    /// How an activity ended. No cases will be added.
    public enum Outcome: String, Sendable {
        /// The activity succeeded.
        case success
        /// The activity failed: see ``LogRecord/error``.
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
    /// The method of the last request that was sent, or else built.
    public internal(set) var method: String?
    /// That request's URL without credentials and fragment, with secret query items masked.
    public internal(set) var url: String?
    /// The status of the last response, if there is one.
    public internal(set) var status: Int?
    /// Why the activity failed: the code of an ``Errand/ErrandError``, or the type of another error. Nil if it didn't
    /// fail.
    public internal(set) var error: String?
    /// Where the response came from: "network", or "cache" with its age and reason.
    public internal(set) var source: String?
    /// The HTTP version of the last response, such as "1.1", "2" or "3". Nil if the transport didn't report it.
    public internal(set) var version: String?
    /// How long the activity took, from `willStart` to `willStop`.
    public let duration: Duration
    /// The number of body bytes that the transport reported as sent.
    public internal(set) var bytesSent: Int64 = 0
    /// The number of body bytes that the transport reported as received.
    public internal(set) var bytesReceived: Int64 = 0
    /// The number of attempts, or 0 if the request was never sent.
    public internal(set) var attempts = 0
    /// The number of requests in all attempts, including redirects.
    public internal(set) var requests = 0
    /// The header lines of the last request, from level `.headers` on.
    public internal(set) var requestHeaders: [String] = []
    /// The header lines of the last response, from level `.headers` on.
    public internal(set) var responseHeaders: [String] = []
    /// The last request's body as indented JSON, text or a size, from level `.bodies` on.
    public internal(set) var requestBody: String?
    /// The last response's body, in the same form.
    public internal(set) var responseBody: String?
    /// The amount received over a live stream. Nil for other activities.
    public internal(set) var stream: StreamCount?
    /// The number of records dropped before this one, because the sink was too slow.
    public internal(set) var dropped = 0

    /// The record on one line: `#7 GET https://example.com/users/7 → 200, network, HTTP/2, 12.3 ms, 512 bytes`
    public var line: String {
        // Interpolation would create temporary strings.
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

    /// The line, followed by the level's details: `>` marks sent lines, and `<` marks received lines.
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
