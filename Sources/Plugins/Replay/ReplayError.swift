public import Errand
import ErrandEssentials

/// An error of a request that a replay can't answer. It contains the nearest recorded request and the differences.
/// Secrets are masked, and bodies are left out.
public struct ReplayError: CodedError, Sendable {
    /// The error codes. More may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<ReplayError>

    /// The kind of failure. Stable, so you can use it in metrics.
    public var code: Code
    /// The request. It's nil for the code ``Code/unusedEntries``.
    public var request: HTTPRequest?
    /// The recorded request with the fewest differences. It's nil if the recording is empty.
    public var nearest: ReplayEntry?
    /// The differences between the request and the nearest entry. Each text is a line such as "query page: recorded 2,
    /// requested 3".
    public var differences: [String]
    /// The entries that weren't used. It's empty unless the code is ``Code/unusedEntries``.
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

    /// The code and the details, as several lines of text for a test's log.
    public var description: String { "\(code): \(text)" }

    private var text: String {
        switch code {
        case .unusedEntries:
            let lines =
                unused.prefix(20).map(\.description) + (unused.count > 20 ? ["and \(unused.count - 20) more"] : [])
            return (["recorded entries that no request asked for (\(unused.count)):"] + lines).joined(separator: "\n  ")
        case .exhausted:
            return "\(url) was requested more often than it was recorded: \(differences.joined(separator: ", "))"
        case .notReplayed: return "\(url) opens a connection for another protocol, such as a WebSocket"
        default:
            guard let nearest else { return "the recording is empty, so it doesn't contain \(url)" }
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
    /// The request opens a connection for another protocol, such as WebSocket, which can't be replayed.
    public static var notReplayed: Self { Self("notReplayed", 4) }
    /// Some entries weren't used. See ``ReplayTransport/checkAllUsed()``.
    public static var unusedEntries: Self { Self("unusedEntries", 3) }
}

extension HTTPRequest {
    func line(_ redaction: Redaction) -> String {
        var redactor = Redactor(redaction)
        return "\(method) \(redactor.url(urlText).prefix(500))"
    }
}

/// A failure to read or write an HTTP Archive. It contains the position in the file.
///
/// ```swift
/// do { try ReplayTransport(har: file) } catch let error as HARError {
///     print(error.code, error.path, error.byte)      // malformedJSON log.entries[3].response.status 18204
/// }
/// ```
///
/// Of the file's content, the description contains only names that are part of the format.
public struct HARError: CodedError, Sendable, Hashable {
    /// The error codes. More may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<HARError>

    /// The kind of failure. Stable, so you can use it in metrics.
    public var code: Code
    /// Describes the failure, with the expected and the actual value.
    public var message: String
    /// The path of the value, such as "log.entries[3].request.url". Indices begin with 0. It's empty if the whole file
    /// failed.
    public var path: String
    /// The position of the failure in the file, in bytes. It's nil if the file couldn't be opened or written.
    public var byte: Int?

    init(_ code: Code, _ message: String, path: String = "", byte: Int? = nil) {
        (self.code, self.message, self.path, self.byte) = (code, message, path, byte)
    }

    /// The code, the message and the position in the file.
    public var description: String {
        let place = [path.isEmpty ? nil : path, byte.map { "byte \($0)" }].compactMap(\.self).joined(separator: ", ")
        return place.isEmpty ? "\(code): \(message)" : "\(code): \(message) (\(place))"
    }

    func within(_ step: String) -> HARError {
        var error = self
        error.path = path.isEmpty || path.hasPrefix("[") ? step + path : "\(step).\(path)"
        return error
    }
}

extension FailureCode<HARError> {
    /// The file can't be opened, read or written, or isn't a regular file.
    public static var fileFailed: Self { Self("fileFailed", 1) }
    /// The bytes aren't JSON.
    public static var malformedJSON: Self { Self("malformedJSON", 2) }
    /// The file ends within a value.
    public static var truncated: Self { Self("truncated", 3) }
    /// The JSON isn't an HTTP Archive: a field is missing, appears twice or has the wrong type.
    public static var notHAR: Self { Self("notHAR", 4) }
    /// A value, or the list of all entries, exceeds the limit.
    public static var tooLarge: Self { Self("tooLarge", 5) }
    /// A body isn't valid Base64, although its entry marks it as Base64.
    public static var damagedBody: Self { Self("damagedBody", 6) }
}
