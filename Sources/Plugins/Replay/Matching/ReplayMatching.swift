public import Errand

/// Decides whether a request equals a recorded one. Compares method and URL, and other parts that you add.
///
/// ```swift
/// ReplayMatching(body: true, headers: ["Accept-Language"])
/// ReplayMatching(ignoredQueryItems: ["timestamp"])
/// ```
///
/// Ignores a URL's credentials and fragment, the case of scheme and host, a default port, and the style of
/// percent-encoding, because RFC 3986 and browsers (WHATWG URL, section 1.3) encode differently. But escaped
/// delimiters, such as `%2F` in a path and `%26` in a query, differ from unescaped ones. The mask of a secret in the
/// recording matches any value.
public struct ReplayMatching: Sendable, Hashable {
    /// Whether to compare the body. Defaults to false.
    ///
    /// JSON is compared by value, ignoring white space and the order of members. Forms are compared by their items, and
    /// multipart bodies by their parts. Other bodies are compared as bytes. Content codings that this system supports
    /// are undone first.
    public var body: Bool
    /// The header fields to compare. The boundary in `Content-Type` doesn't count. Defaults to empty.
    public var headers: [HTTPHeaderName]
    /// The percent-decoded names of query items to ignore. Defaults to empty.
    public var ignoredQueryItems: Set<String>
    /// Whether to ignore scheme, host and port, for example if a test server's port changes. Defaults to false.
    public var ignoresOrigin: Bool

    /// Creates a rule. By default, it compares only method and URL.
    public init(
        body: Bool = false, headers: [HTTPHeaderName] = [], ignoredQueryItems: Set<String> = [],
        ignoresOrigin: Bool = false
    ) {
        (self.body, self.headers) = (body, headers)
        (self.ignoredQueryItems, self.ignoresOrigin) = (ignoredQueryItems, ignoresOrigin)
    }

    /// Compares only method and URL.
    public static let methodAndURL = ReplayMatching()
}

/// When a replayed response arrives.
public enum ReplayTiming: Sendable, Hashable {
    /// At once. The default.
    case off
    /// After the recorded time, by the agent's time source. If that exceeds the timeout, the request throws `timedOut`.
    case recorded
}

/// Whether a replay answers requests from the recording, passes them on, or records them.
public struct ReplayMode: Sendable {
    enum Kind: Sendable { case replayOnly, replayOrPassOn, recordNew, recordAll }

    let kind: Kind
    let transport: (any Transport)?

    /// Never sends a request. A request that isn't in the recording throws ``ReplayError``. The default.
    public static let replayOnly = ReplayMode(kind: .replayOnly, transport: nil)

    /// Passes requests that aren't in the recording to a transport.
    public static func replayOrPassOn(to transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .replayOrPassOn, transport: transport)
    }

    /// Passes requests that aren't in the recording to a transport and records them. Save the recording with
    /// ``ReplayTransport/save(to:)``. The file may not exist yet.
    public static func recordNew(over transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .recordNew, transport: transport)
    }

    /// Passes every request to a transport and records it. ``ReplayTransport/save(to:)`` replaces the file, which isn't
    /// read and may not exist yet.
    public static func recordAll(over transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .recordAll, transport: transport)
    }

    var records: Bool { kind == .recordNew || kind == .recordAll }
}
