public import Errand

/// The rule by which a request equals a recorded one: method and URL, and the parts that are added here.
///
/// ```swift
/// ReplayMatching(body: true, headers: ["Accept-Language"])
/// ReplayMatching(ignoredQueryItems: ["timestamp"])
/// ```
///
/// URLs are compared without credentials and fragment, with scheme and host in any case, with or without the default
/// port, and in any percent-encoding: as RFC 3986 asks for it, or as browsers leave it out (WHATWG URL, section 1.3).
/// Escaped delimiters stay apart from those in the clear, such as `%2F` in a path and `%26` in a query. The mask of a secret
/// in the recording matches any value.
public struct ReplayMatching: Sendable, Hashable {
    /// Whether the body is compared: JSON by its values, with fields and white space in any order; a form by its items; a
    /// multipart body by its parts, whatever the boundary is; anything else byte by byte. A content coding that this system
    /// knows is undone before. False by default.
    public var body: Bool
    /// The header fields that are compared, `Content-Type` without a boundary; none by default.
    public var headers: [HTTPHeaderName]
    /// The names of query items that are ignored, percent-decoded; none by default.
    public var ignoredQueryItems: Set<String>
    /// Whether scheme, host and port are ignored, as for a recording of a test server whose port changes. False by
    /// default.
    public var ignoresOrigin: Bool

    /// Makes the rule; by method and URL alone by default.
    public init(
        body: Bool = false, headers: [HTTPHeaderName] = [], ignoredQueryItems: Set<String> = [],
        ignoresOrigin: Bool = false
    ) {
        (self.body, self.headers) = (body, headers)
        (self.ignoredQueryItems, self.ignoresOrigin) = (ignoredQueryItems, ignoresOrigin)
    }

    /// Compares method and URL only; the default.
    public static let methodAndURL = ReplayMatching()
}

/// The time at which a replayed response arrives.
public enum ReplayTiming: Sendable, Hashable {
    /// At once. The default.
    case off
    /// After the recorded time, by the agent's time source; `timedOut` is thrown where that is longer than the timeout.
    case recorded
}

/// How a replay treats requests, recorded or not.
public struct ReplayMode: Sendable {
    enum Kind: Sendable { case replayOnly, replayOrPassOn, recordNew, recordAll }

    let kind: Kind
    let transport: (any Transport)?

    /// Sends nothing: a request that is not in the recording throws ``ReplayError``. The default.
    public static let replayOnly = ReplayMode(kind: .replayOnly, transport: nil)

    /// Passes a request that is not in the recording on to a transport.
    public static func replayOrPassOn(to transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .replayOrPassOn, transport: transport)
    }

    /// Passes a request that is not in the recording on to a transport, and adds it to the recording. The file need not
    /// exist. ``ReplayTransport/save(to:)`` writes it.
    public static func recordNew(over transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .recordNew, transport: transport)
    }

    /// Passes every request on to a transport, and records all of them. The file need not exist, and is not read;
    /// ``ReplayTransport/save(to:)`` replaces it.
    public static func recordAll(over transport: some Transport) -> ReplayMode {
        ReplayMode(kind: .recordAll, transport: transport)
    }

    var records: Bool { kind == .recordNew || kind == .recordAll }
}
