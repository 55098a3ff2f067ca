public import Errand

// A new field also goes into `RequestLog.activity`, the method of `LogDraft` for its event, and `LogDraft.record(of:)`.

/// One activity that has ended, for a sink: fields to search by, and its text. It holds no secret.
public struct LogRecord: Sendable, CustomStringConvertible {
    /// The outcome of an activity. These three cases are all that there are.
    public enum Outcome: String, Sendable {
        /// It succeeded.
        case success
        /// It failed; ``LogRecord/error`` has the kind of failure.
        case failure
        /// It was cancelled.
        case cancelled
    }

    /// The number of the activity, from 1 in a process.
    public let id: Activity.ID
    /// The batch, chain or request that the activity belongs to.
    public let parent: Activity.ID?
    /// A request, a batch, …
    public let kind: ActivityKind
    /// The name given, or the request's type.
    public let label: String
    /// The outcome of the activity.
    public let outcome: Outcome
    /// The method of the last request on the wire, or of the one that was built.
    public internal(set) var method: String?
    /// The URL of the same request, without credentials and fragment, secret query items masked.
    public internal(set) var url: String?
    /// The status of the last response; nil without one.
    public internal(set) var status: Int?
    /// The code of an ``Errand/ErrandError``, or the type of another error.
    public internal(set) var error: String?
    /// "network", or "cache" with its age and reason.
    public internal(set) var source: String?
    /// The version of HTTP of the last response, such as "1.1", "2" or "3"; nil where the transport does not report it.
    public internal(set) var version: String?
    /// The time from `willStart` to `willStop`.
    public let duration: Duration
    /// Body bytes sent, as far as the transport reported them.
    public internal(set) var bytesSent: Int64 = 0
    /// Body bytes received, as far as the transport reported them.
    public internal(set) var bytesReceived: Int64 = 0
    /// The number of attempts; 0 for a request that never reached the wire.
    public internal(set) var attempts = 0
    /// The number of requests on the wire in all attempts, redirects included.
    public internal(set) var requests = 0
    /// The header lines of the last request on the wire; from the level `.headers` on.
    public internal(set) var requestHeaders: [String] = []
    /// The header lines of the last response; from the level `.headers` on.
    public internal(set) var responseHeaders: [String] = []
    /// The body of the last request as indented JSON, text, or a size; from the level `.bodies` on.
    public internal(set) var requestBody: String?
    /// The body of the last response in the same form.
    public internal(set) var responseBody: String?
    /// The amount that was received over a live stream, instead of a body; nil for anything else.
    public internal(set) var stream: StreamCount?
    /// The number of records that were dropped before this one, because the sink was too slow.
    public internal(set) var dropped = 0

    /// `GET https://example.com/users/7 → 200, network, HTTP/2, 12.3 ms, 512 bytes`
    public var line: String {
        // Appended piece by piece: an interpolation first makes a text of each piece.
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
        if dropped > 0 { line += " (\(dropped) records before this were dropped)" }
        return line
    }

    /// The line, then the details of the level: `>` before sent ones, `<` before received ones.
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

    /// In milliseconds, rounded to a tenth.
    private static func append(_ duration: Duration, to line: inout String) {
        let (seconds, attoseconds) = duration.bounded.components
        let tenths = seconds * 10_000 + (attoseconds + 50_000_000_000_000) / 100_000_000_000_000
        line += String(tenths / 10)
        line += "."
        line += String(tenths % 10)
        line += " ms"
    }
}
