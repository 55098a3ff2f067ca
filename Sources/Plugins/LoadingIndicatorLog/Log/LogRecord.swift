public import Errand

/// One activity that has ended, for a sink: fields to search by, and the text of a log. It holds no secret.
public struct LogRecord: Sendable, CustomStringConvertible {
    /// How it ended.
    public enum Outcome: String, Sendable {
        case success, failure, cancelled
    }

    /// Counted from 1 in a process.
    public let id: Activity.ID
    /// The batch, chain or request that it was a part of.
    public let parent: Activity.ID?
    /// A request, a batch, …
    public let kind: ActivityKind
    /// The name given, or the request's type.
    public let label: String
    public let outcome: Outcome
    /// Of the last request on the wire, or of the one that was built.
    public internal(set) var method: String?
    /// Without credentials, secret items masked.
    public internal(set) var url: String?
    public internal(set) var status: Int?
    /// The code of an ``Errand/ErrandError``, or the type of another error.
    public internal(set) var error: String?
    /// "network", or "cache" with its age and reason.
    public internal(set) var source: String?
    /// From will-start to will-stop.
    public let duration: Duration
    /// Body bytes, as far as the transport told.
    public internal(set) var bytesSent: Int64 = 0
    public internal(set) var bytesReceived: Int64 = 0
    /// Tries, and requests on the wire in all; 0 for what never got there.
    public internal(set) var attempts = 0
    public internal(set) var requests = 0
    /// From the level `.headers` on.
    public internal(set) var requestHeaders: [String] = []
    public internal(set) var responseHeaders: [String] = []
    /// Pretty JSON, text, or a size; from the level `.bodies` on.
    public internal(set) var requestBody: String?
    public internal(set) var responseBody: String?
    /// Records that were dropped before this one, since the sink was too slow.
    public internal(set) var dropped = 0

    /// `GET https://example.com/users/7 → 200, network, 12.3 ms, 512 bytes`
    public var line: String {
        var words = [outcomeText]
        if let source { words.append(source) }
        words.append(Self.milliseconds(duration))
        if bytesSent > 0 { words.append("\(bytesSent) bytes sent") }
        if bytesReceived > 0 { words.append("\(bytesReceived) bytes") }
        if attempts > 1 { words.append("\(attempts) attempts") }
        if requests > attempts { words.append("\(requests) requests") }
        let subject = url.map { "\(method ?? "") \($0)" } ?? (label == kind.rawValue ? label : "\(kind) \(label)")
        let lost = dropped > 0 ? " (\(dropped) records before this were dropped)" : ""
        return "\(id) \(subject) → \(words.joined(separator: ", "))\(lost)"
    }

    /// The line, then what the level asked for: `>` for what was sent, `<` for what came.
    public var description: String {
        var lines = [line]
        lines += requestHeaders.map { "  > \($0)" }
        lines += Self.indented(requestBody, "  > ")
        lines += responseHeaders.map { "  < \($0)" }
        lines += Self.indented(responseBody, "  < ")
        return lines.joined(separator: "\n")
    }

    private var outcomeText: String {
        let status = status.map { "\($0)" }
        switch outcome {
        case .success: return status ?? "success"
        case .failure: return [status, error].compactMap(\.self).joined(separator: " ")
        case .cancelled: return "cancelled"
        }
    }

    private static func indented(_ text: String?, _ mark: String) -> [String] {
        text.map { $0.split(separator: "\n", omittingEmptySubsequences: false).map { mark + $0 } } ?? []
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let tenths = (duration / .microseconds(100)).rounded()
        return "\(Int(tenths) / 10).\(Int(tenths) % 10) ms"
    }
}
