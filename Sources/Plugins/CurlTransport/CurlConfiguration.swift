/// How a ``CurlTransport`` connects; the same for all its requests.
///
/// ```swift
/// var configuration = CurlConfiguration()
/// configuration.maximumConnectionsPerHost = 6
/// let agent = NetworkAgent(baseURL: url, transport: .curl(configuration))
/// ```
public struct CurlConfiguration: Sendable {
    /// The longest a connection may take to be made: name lookup, TCP and TLS together. 30 seconds by default; the
    /// request's own timeout ends it earlier where that is shorter.
    public var connectTimeout: Duration = .seconds(30)
    /// Connections open at once, to all hosts; further requests wait. 256 by default.
    public var maximumConnections = 256
    /// Connections open at once to one host; further requests wait, and their timeout does not run. 64 by default.
    public var maximumConnectionsPerHost = 64
    /// The bytes of header fields that one answer may have, informational ones and trailers included. 256 KiB by
    /// default; more throw `invalidResponse`.
    public var maximumHeaderBytes = 256 << 10

    /// The defaults.
    public init() {}
}
