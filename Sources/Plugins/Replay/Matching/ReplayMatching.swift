public import Errand

/// A rule that decides whether a request equals a recorded request. It compares the method and the URL, and other parts
/// that you add.
///
/// ```swift
/// ReplayMatching(body: true, headers: ["Accept-Language"])
/// ReplayMatching(ignoredQueryItems: ["timestamp"])
/// ```
///
/// Programs encode URLs differently (RFC 3986; WHATWG URL, section 1.3). Therefore, these parts of a URL are ignored:
///
/// - credentials and the fragment
/// - the case of the scheme and the host
/// - a default port
/// - the style of percent-encoding. But an escaped delimiter differs from an unescaped delimiter, such as `%2F` in a
///   path and `%26` in a query.
///
/// If a secret is masked in the recording, its mask matches any value.
public struct ReplayMatching: Sendable, Hashable {
    /// Whether to compare the body. Defaults to false.
    ///
    /// How bodies are compared depends on their type:
    ///
    /// - JSON is compared by value. White space and the order of members are ignored.
    /// - Forms are compared by their items, and multipart bodies by their parts.
    /// - Other bodies are compared as bytes.
    ///
    /// Before that, bodies with a content coding are decoded if this system supports the coding.
    public var body: Bool
    /// The header fields to compare. The boundary in `Content-Type` is ignored. Defaults to an empty list.
    public var headers: [HTTPHeaderName]
    /// The names of query items to ignore, percent-decoded. Defaults to an empty set.
    public var ignoredQueryItems: Set<String>
    /// Whether to ignore the scheme, the host and the port. This is useful, for example, if a test server's port
    /// changes. Defaults to false.
    public var ignoresOrigin: Bool

    /// Creates a rule. By default, it compares only the method and the URL.
    public init(
        body: Bool = false, headers: [HTTPHeaderName] = [], ignoredQueryItems: Set<String> = [],
        ignoresOrigin: Bool = false
    ) {
        (self.body, self.headers) = (body, headers)
        (self.ignoredQueryItems, self.ignoresOrigin) = (ignoredQueryItems, ignoresOrigin)
    }

    /// A rule that compares only the method and the URL.
    public static let methodAndURL = ReplayMatching()
}

/// Determines when a replayed response arrives.
public enum ReplayTiming: Sendable, Hashable {
    /// The response arrives at once. This is the default.
    case off
    /// The response arrives after the recorded time, according to the agent's time source. If the recorded time is
    /// longer than the timeout, the request throws `timedOut`.
    case recorded
}

/// Determines whether a replay answers requests from the recording, sends them, or records them.
public struct ReplayMode: Sendable {
    enum Kind: Sendable { case replayOnly, replayOrPassOn, recordNew, recordAll }

    let kind: Kind
    let transport: (any Transport)?

    /// Answers requests only from the recording. A request that isn't in the recording throws ``ReplayError``. This is
    /// the default.
    public static let replayOnly = ReplayMode(kind: .replayOnly, transport: nil)

    /// Sends requests that aren't in the recording with a transport.
    public static func replayOrPassOn(to transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .replayOrPassOn, transport: transport)
    }

    /// Sends requests that aren't in the recording with a transport, and records them. Save the recording with
    /// ``ReplayTransport/save(to:)``. The file needn't exist yet.
    public static func recordNew(over transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .recordNew, transport: transport)
    }

    /// Sends every request with a transport, and records it. The file isn't read and needn't exist yet.
    /// ``ReplayTransport/save(to:)`` replaces it.
    public static func recordAll(over transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .recordAll, transport: transport)
    }

    var records: Bool { kind == .recordNew || kind == .recordAll }
}
