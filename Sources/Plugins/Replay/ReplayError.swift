public import Errand
import ErrandEssentials

/// Explains why a replay can't answer a request: the nearest recorded request, and how it differs.
///
/// Secrets are masked and bodies are left out.
public struct ReplayError: CodedError, Sendable {
    /// The kind of failure. Codes are stable and suitable for metrics.
    public typealias Code = FailureCode<ReplayError>

    /// The kind of failure.
    public var code: Code
    /// The request, or `nil` for ``Code/unusedEntries``.
    public var request: HTTPRequest?
    /// The recorded request with the fewest differences, or `nil` if the recording is empty.
    public var nearest: ReplayEntry?
    /// The differences from it, one per line, such as "query page: recorded 2, requested 3".
    public var differences: [String]
    /// The entries that weren't used, for ``Code/unusedEntries``.
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

    /// The code, and several lines for a test's log.
    public var description: String { "\(code): \(text)" }

    private var text: String {
        switch code {
        case .unusedEntries:
            let lines =
                unused.prefix(20).map(\.description) + (unused.count > 20 ? ["and \(unused.count - 20) more"] : [])
            return (["no request asked for \(unused.count) recorded entries:"] + lines).joined(separator: "\n  ")
        case .exhausted:
            return "\(url) was requested more often than it was recorded: \(differences.joined(separator: ", "))"
        case .notReplayed: return "\(url) opens a connection for another protocol, such as a WebSocket"
        default:
            guard let nearest else { return "\(url) is not in the recording, which is empty" }
            return (["\(url) is not in the recording. The nearest entry is \(nearest):"] + differences)
                .joined(separator: "\n  ")
        }
    }
}

extension FailureCode<ReplayError> {
    /// The recording doesn't contain an equal request.
    public static var unmatched: Self { Self("unmatched", 1) }
    /// All equal recorded requests have been used.
    public static var exhausted: Self { Self("exhausted", 2) }
    /// The request opens a connection for another protocol than HTTP, such as a WebSocket, which can't be replayed.
    public static var notReplayed: Self { Self("notReplayed", 4) }
    /// Some entries weren't used; see ``ReplayTransport/checkAllUsed()``.
    public static var unusedEntries: Self { Self("unusedEntries", 3) }
}

extension HTTPRequest {
    /// For a report or error: secrets masked, the URL cut after 500 characters.
    func line(_ redaction: Redaction) -> String {
        var redactor = Redactor(redaction)
        return "\(method) \(redactor.url(urlText).prefix(500))"
    }
}
