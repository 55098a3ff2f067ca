/// How a ``CurlTransport`` connects; the same for all its requests.
///
/// ```swift
/// var configuration = CurlConfiguration()
/// configuration.maximumConnectionsPerHost = 6
/// configuration.tls.roots = .file("/etc/example/ca.pem")
/// let agent = NetworkAgent(baseURL: url, transport: .curl(configuration))
/// ```
public struct CurlConfiguration: Sendable {
    /// Which version of HTTP is spoken.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/2 where TLS negotiates it, HTTP/1.1 elsewhere.
        case automatic
        /// HTTP/1.1 only.
        case http1
    }

    /// Which addresses of a host the transport connects to.
    public enum AddressFamily: Sendable, Hashable {
        /// Both, IPv6 a little earlier (RFC 8305).
        case any
        /// IPv4 only.
        case v4
        /// IPv6 only.
        case v6
    }

    /// How long a connection may take to be established: name lookup, TCP and TLS together. 30 seconds by default; the
    /// request's own timeout ends it earlier where that is shorter.
    public var connectTimeout: Duration = .seconds(30)
    /// Connections open at once, to all hosts; further requests wait. 256 by default.
    public var maximumConnections = 256
    /// Connections open at once to one host; further requests wait, and their timeout does not run. 64 by default.
    public var maximumConnectionsPerHost = 64
    /// How long a connection without a request is kept open for the next one. 60 seconds by default.
    public var keepAliveTime: Duration = .seconds(60)
    /// HTTP/2 over TLS where the server has it, by default.
    public var httpVersion = HTTPVersion.automatic
    /// Both families by default.
    public var addressFamily = AddressFamily.any
    /// Certificates, keys and versions.
    public var tls = CurlTLS()
    /// The environment's proxies by default.
    public var proxy = CurlProxy.environment
    /// The name of a network interface, or a local address, that connections start from. The system's choice by default.
    public var localAddress: String?
    /// The path of a Unix socket to which every connection goes, whatever the host of the URL. None by default.
    public var unixSocketPath: String?
    /// Whether content codings are asked for and decoded: gzip and deflate, br and zstd where the system has their
    /// libraries. A request with an `Accept-Encoding` or a `Range` of its own gets the bytes as they are. True by default.
    public var decodesContent = true
    /// The bytes of header fields that one response may have, informational ones and trailers included. 256 KiB by
    /// default; more throw `invalidResponse`.
    public var maximumHeaderBytes = 256 << 10

    /// The defaults.
    public init() {}
}
