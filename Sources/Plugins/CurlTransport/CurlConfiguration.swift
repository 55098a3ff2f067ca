public import ErrandEssentials

/// The settings of a ``CurlTransport``, which apply to all its requests.
///
/// ```swift
/// var configuration = CurlConfiguration()
/// configuration.maximumConnectionsPerHost = 6
/// configuration.tls.roots = .file(URL(filePath: "/etc/example/ca.pem"))
/// let agent = NetworkAgent(baseURL: url, transport: .curl(configuration))
/// ```
public struct CurlConfiguration: Sendable {
    /// The HTTP versions that the transport may use.
    public enum HTTPVersion: Sendable, Hashable {
        /// The transport uses HTTP/2 if TLS negotiates it. Otherwise, it uses HTTP/1.1.
        case automatic
        /// The transport uses only HTTP/1.1.
        case http1
        /// The transport uses HTTP/3 with https servers that offer it in an `Alt-Svc` field (RFC 7838). It works like
        /// ``automatic``:
        ///
        /// - before a server has offered HTTP/3
        /// - through a proxy
        /// - if QUIC doesn't connect
        /// - if libcurl lacks HTTP/3
        case http3
        /// The transport uses HTTP/3 for https, without a fallback, and HTTP/1.1 for http. If libcurl lacks HTTP/3,
        /// every request fails with `transportUnavailable`.
        case http3Only
    }

    /// The IP addresses that the transport may connect to.
    public enum AddressFamily: Sendable, Hashable {
        /// Both IPv4 and IPv6. IPv6 gets a small head start (RFC 8305).
        case any
        /// Only IPv4 addresses.
        case v4
        /// Only IPv6 addresses.
        case v6
    }

    /// The maximum time to open a connection, including name lookup and TLS. If a request's timeout is shorter, the
    /// timeout takes precedence. Defaults to 30 seconds.
    public var connectTimeout: Duration = .seconds(30)
    /// The maximum number of open connections in total. More requests wait for a connection. Defaults to 256.
    public var maximumConnections = 256
    /// The maximum number of open connections per host. More requests wait for a connection, and this wait doesn't
    /// count toward their timeout. Defaults to 64.
    public var maximumConnectionsPerHost = 64
    /// How long to keep an idle connection open for reuse. Defaults to 60 seconds.
    public var keepAliveTime: Duration = .seconds(60)
    /// The HTTP version to use. Defaults to ``HTTPVersion/automatic``.
    public var httpVersion = HTTPVersion.automatic
    /// A file that remembers which servers offer HTTP/3, for ``HTTPVersion/http3``. The file contains the names of
    /// visited hosts, and only its owner can read it. Defaults to `nil`, which keeps the offers in memory.
    public var alternativeServicesFile: URL?
    /// The IP addresses that the transport may connect to. Defaults to both IPv4 and IPv6.
    public var addressFamily = AddressFamily.any
    /// IPv4 or IPv6 addresses by host name, used instead of a name lookup. Defaults to an empty dictionary.
    ///
    /// ```swift
    /// configuration.addresses = ["api.example.com": ["192.0.2.10", "2001:db8::10"]]
    /// ```
    ///
    /// The addresses apply to all ports of a host, with or without a final dot in the URL. They don't affect the `Host`
    /// field or the name in the certificate. If an address doesn't connect, the transport tries the next one. Proxies
    /// look up hosts themselves. An invalid host name or address makes every request fail with `nameLookupFailed`.
    public var addresses: [String: [String]] = [:]
    /// A DNS-over-HTTPS server for name lookups (RFC 8484), such as `https://dns.example.com/dns-query`. Defaults to
    /// `nil`, which uses the system's resolver.
    ///
    /// The system looks up the name of the DNS server, unless ``addresses`` contains that name. If the DNS server
    /// doesn't respond, the request fails with `nameLookupFailed`, without a fallback. If this URL isn't an https URL,
    /// every request fails with the same error.
    ///
    /// ``tls`` specifies the authorities that may sign the DNS server's certificate. A libcurl with GnuTLS also accepts
    /// the system's directory of authorities.
    public var dnsOverHTTPS: URL?
    /// The certificates, keys and TLS versions of secure connections. Defaults to the system's certificates.
    public var tls = CurlTLS()
    /// The proxies to connect through. Defaults to the proxies in environment variables.
    public var proxy = CurlProxy.environment
    /// The name of a network interface, or a local address, to connect from. Defaults to `nil`, which leaves the choice
    /// to the system.
    public var localAddress: String?
    /// The path of a Unix socket. If it's set, all connections use this socket, whatever the URL's host and the proxy.
    /// Defaults to `nil`.
    public var unixSocketPath: String?
    /// Whether to request and decode compressed bodies: gzip and deflate, and br and zstd if the system has their
    /// libraries. Defaults to `true`.
    ///
    /// If a request has its own `Accept-Encoding` or `Range`, its response isn't decoded.
    public var decodesContent = true
    /// The maximum size of a response's header fields in bytes, including informational responses and trailers. If a
    /// response has more, the request throws `invalidResponse`. Defaults to 256 KiB.
    public var maximumHeaderBytes = 256 << 10

    /// Creates settings in which every property has its default.
    public init() {}
}
