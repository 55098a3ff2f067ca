public import ErrandEssentials

/// The settings of a ``CurlTransport``, the same for all its requests.
///
/// ```swift
/// var configuration = CurlConfiguration()
/// configuration.maximumConnectionsPerHost = 6
/// configuration.tls.roots = .file(URL(filePath: "/etc/example/ca.pem"))
/// let agent = NetworkAgent(baseURL: url, transport: .curl(configuration))
/// ```
public struct CurlConfiguration: Sendable {
    /// The versions of HTTP that are used.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/2 where TLS negotiates it, HTTP/1.1 elsewhere.
        case automatic
        /// HTTP/1.1 only.
        case http1
        /// HTTP/3 with the servers that offer it for https by an `Alt-Svc` field (RFC 7838), and otherwise as with
        /// ``automatic``: before the offer, through a proxy, where QUIC does not connect, and with a libcurl without
        /// HTTP/3.
        case http3
        /// HTTP/3 for https, with nothing to fall back on; HTTP/1.1 for http. With a libcurl without HTTP/3 every
        /// request ends with `transportUnavailable`.
        case http3Only
    }

    /// The addresses of a host that the transport connects to.
    public enum AddressFamily: Sendable, Hashable {
        /// Both, IPv6 a little earlier (RFC 8305).
        case any
        /// IPv4 only.
        case v4
        /// IPv6 only.
        case v6
    }

    /// The maximum time to establish a connection: name lookup, TCP and TLS together. 30 seconds by default; the
    /// request's own timeout ends it earlier if it is shorter.
    public var connectTimeout: Duration = .seconds(30)
    /// The maximum number of open connections to all hosts; further requests wait. 256 by default.
    public var maximumConnections = 256
    /// The maximum number of open connections to one host; further requests wait, and their timeout does not run. 64 by
    /// default.
    public var maximumConnectionsPerHost = 64
    /// The time for which a connection without a request is kept open for the next one. 60 seconds by default.
    public var keepAliveTime: Duration = .seconds(60)
    /// The version of HTTP; by default HTTP/2 over TLS where the server supports it.
    public var httpVersion = HTTPVersion.automatic
    /// The file that remembers which servers offer HTTP/3, for ``HTTPVersion/http3``. It names the hosts that were
    /// visited, and only its owner can read it. Nil by default: the offers are in memory, and end with the transport.
    public var alternativeServicesFile: URL?
    /// The addresses; both families by default.
    public var addressFamily = AddressFamily.any
    /// The addresses of hosts that are not looked up, IPv4 or IPv6, by host name; none by default.
    ///
    /// ```swift
    /// configuration.addresses = ["api.example.com": ["192.0.2.10", "2001:db8::10"]]
    /// ```
    ///
    /// They hold for every port of the host, with or without a final dot in its URL, and change neither `Host` nor the name in its certificate. Where several
    /// are given, one that does not connect is followed by the next. A request through a proxy connects to the proxy,
    /// which looks the host up itself. Something that is no host name or no address ends every request with
    /// `nameLookupFailed`.
    public var addresses: [String: [String]] = [:]
    /// The server that looks up names by DNS over HTTPS (RFC 8484), such as `https://dns.example.com/dns-query`, in the
    /// place of the system. Nil by default.
    ///
    /// The name of that server itself is looked up by the system, unless ``addresses`` has it. If it does not respond,
    /// a request ends with `nameLookupFailed`: the system is not asked instead. ``tls`` says which authorities may sign
    /// its certificate; a libcurl over GnuTLS accepts those in the system's directory as well. A URL of another scheme than https ends every request with `nameLookupFailed`.
    public var dnsOverHTTPS: URL?
    /// Certificates, keys and versions.
    public var tls = CurlTLS()
    /// The proxies; by default those of the environment.
    public var proxy = CurlProxy.environment
    /// The name of a network interface, or a local address, from which connections start. The system's choice by
    /// default.
    public var localAddress: String?
    /// The path of a Unix socket to which every connection goes, whatever the host of the URL and the proxy. None by
    /// default.
    public var unixSocketPath: String?
    /// Whether content codings are requested and decoded: gzip and deflate, br and zstd where the system has their
    /// libraries. A request with an `Accept-Encoding` or a `Range` of its own gets the bytes as they are. True by
    /// default.
    public var decodesContent = true
    /// The maximum number of bytes of header fields of one response, informational ones and trailers included. 256 KiB
    /// by default; more throw `invalidResponse`.
    public var maximumHeaderBytes = 256 << 10

    /// The defaults.
    public init() {}
}
