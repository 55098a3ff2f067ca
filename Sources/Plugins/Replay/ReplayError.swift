public import Errand
import ErrandEssentials

/// The reason why a replay cannot respond to a request: the nearest recorded one, and the differences from it.
///
/// Secrets are masked, bodies are left out.
public struct ReplayError: CodedError, Sendable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public typealias Code = FailureCode<ReplayError>

    /// The kind of failure.
    public var code: Code
    /// The request; nil for ``Code/unusedEntries``.
    public var request: HTTPRequest?
    /// The recorded request that differs the least; nil if nothing is recorded.
    public var nearest: ReplayEntry?
    /// The differences from it, one a line, such as "query page: recorded 2, requested 3".
    public var differences: [String]
    /// The entries that no request has used, with ``Code/unusedEntries``.
    public var unused: [ReplayEntry]
    private var url = ""

    init(
        _ code: Code, _ request: HTTPRequest? = nil, nearest: ReplayEntry? = nil, differences: [String] = [],
        unused: [ReplayEntry] = [], redaction: Redaction
    ) {
        (self.code, self.request, self.nearest) = (code, request, nearest)
        (self.differences, self.unused) = (differences, unused)
        if let request { url = request.line(redaction) }
    }

    /// The code and several lines for a test's log.
    public var description: String { "\(code): \(text)" }

    private var text: String {
        switch code {
        case .unusedEntries:
            let lines =
                unused.prefix(20).map(\.description) + (unused.count > 20 ? ["and \(unused.count - 20) more"] : [])
            return (["no request asked for \(unused.count) recorded entries:"] + lines).joined(separator: "\n  ")
        case .exhausted:
            return "\(url) was recorded less often than it is requested: \(differences.joined(separator: ", "))"
        case .notReplayed: return "\(url) opens a connection for another protocol, such as a WebSocket"
        default:
            guard let nearest else { return "\(url) is not in the recording, which is empty" }
            return (["\(url) is not in the recording. The nearest entry is \(nearest):"] + differences)
                .joined(separator: "\n  ")
        }
    }
}

extension FailureCode<ReplayError> {
    /// No recorded request is equal.
    public static var unmatched: Self { Self("unmatched", 1) }
    /// All equal recorded requests were used already.
    public static var exhausted: Self { Self("exhausted", 2) }
    /// A recording cannot be replayed as a connection for another protocol than HTTP, such as a WebSocket.
    public static var notReplayed: Self { Self("notReplayed", 4) }
    /// Some entries were used by no request; see ``ReplayTransport/checkAllUsed()``.
    public static var unusedEntries: Self { Self("unusedEntries", 3) }
}

extension HTTPRequest {
    /// Method and URL for a report or an error: secrets masked, at most 500 characters of the URL.
    func line(_ redaction: Redaction) -> String {
        var redactor = Redactor(redaction)
        return "\(method) \(redactor.url(urlText).prefix(500))"
    }
}
