public import Errand

/// Decides whether a request counts as equal to a recorded request: by method and URL, and by any other parts that you
/// add.
///
/// ```swift
/// ReplayMatching(body: true, headers: ["Accept-Language"])
/// ReplayMatching(ignoredQueryItems: ["timestamp"])
/// ```
///
/// Credentials and fragment of a URL are ignored. Case of scheme and host, a default port, and the style of
/// percent-encoding don't matter: RFC 3986 and browsers (WHATWG URL, section 1.3) encode differently. Escaped
/// delimiters, such as `%2F` in a path and `%26` in a query, still differ from unescaped delimiters. The mask of a
/// secret in the recording matches any value.
public struct ReplayMatching: Sendable, Hashable {
    /// Whether to compare the body. Defaults to `false`.
    ///
    /// JSON is compared by its values, ignoring white space and the order of members, forms by their items, and
    /// multipart bodies by their parts, ignoring the boundary. Other bodies are compared as bytes. Content codings that
    /// this system knows are undone first.
    public var body: Bool
    /// The header fields to compare, except the boundary in `Content-Type`. Defaults to empty.
    public var headers: [HTTPHeaderName]
    /// The percent-decoded names of query items to ignore. Defaults to empty.
    public var ignoredQueryItems: Set<String>
    /// Whether to ignore scheme, host and port, for example if a test server's port changes. Defaults to `false`.
    public var ignoresOrigin: Bool

    /// Creates a rule. By default it compares only method and URL.
    public init(
        body: Bool = false, headers: [HTTPHeaderName] = [], ignoredQueryItems: Set<String> = [],
        ignoresOrigin: Bool = false
    ) {
        (self.body, self.headers) = (body, headers)
        (self.ignoredQueryItems, self.ignoresOrigin) = (ignoredQueryItems, ignoresOrigin)
    }

    /// Compares only method and URL. This is the default.
    public static let methodAndURL = ReplayMatching()
}

/// When a replayed response arrives.
public enum ReplayTiming: Sendable, Hashable {
    /// At once. This is the default.
    case off
    /// After the recorded time, by the agent's time source. Throws `timedOut` if that exceeds the timeout.
    case recorded
}

/// Determines whether a replay responds from the recording, passes requests on to a transport, or records new
/// responses.
public struct ReplayMode: Sendable {
    enum Kind: Sendable { case replayOnly, replayOrPassOn, recordNew, recordAll }

    let kind: Kind
    let transport: (any Transport)?

    /// Never sends a request. A request that isn't in the recording throws ``ReplayError``. This is the default.
    public static let replayOnly = ReplayMode(kind: .replayOnly, transport: nil)

    /// Passes requests that aren't in the recording to a transport.
    public static func replayOrPassOn(to transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .replayOrPassOn, transport: transport)
    }

    /// Passes requests that aren't in the recording to a transport and adds them to the recording. Save it with
    /// ``ReplayTransport/save(to:)``. The file doesn't have to exist.
    public static func recordNew(over transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .recordNew, transport: transport)
    }

    /// Passes every request to a transport and records it. ``ReplayTransport/save(to:)`` replaces the file. It isn't
    /// read and doesn't have to exist.
    public static func recordAll(over transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .recordAll, transport: transport)
    }

    var records: Bool { kind == .recordNew || kind == .recordAll }
}
