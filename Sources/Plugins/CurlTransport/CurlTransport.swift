// Start here: `transport: .curl`, or ``CurlTransport`` with a ``CurlConfiguration``.
//
// Transfer/      one exchange: its request, its response, its errors and timings
// Connection/    connections for protocols other than HTTP
// Alternatives/  the servers that offer HTTP/3
// Loop/          the thread that waits for sockets and timers, and the tables of sockets and origins
// Library/       libcurl: loading, versions, handles, options
// Coding/        content codings
// CShim/         calls that Swift can't make

#if os(Linux) || os(Android)
public import Errand
@_exported public import ErrandTLS
import Synchronization

/// A transport that sends requests with libcurl. It uses a linked libcurl, or else loads the system's libcurl at run
/// time.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .curl)
/// ```
///
/// With its first request, each transport starts one thread and one connection pool. When the transport is deallocated,
/// it closes its connections and ends its thread. While a streamed body is being read, the connections and the thread
/// stay alive until the body has ended.
///
/// `send` throws only ``ErrandError``. If libcurl is missing or older than 7.76, the error is `transportUnavailable`.
/// For a libcurl error, it has a matching code, and a ``CurlError`` as `underlying`.
public final class CurlTransport: Transport {
    /// The settings of the transport.
    public let configuration: CurlConfiguration
    let started = Mutex<CurlLoop?>(nil)

    /// Creates a transport. The first transport loads libcurl for the whole process. If libcurl can't be loaded, the
    /// first request throws the error.
    public init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        self.configuration = configuration
        _ = try? CurlLibrary.load()
        _ = ContentCoding.accepted
    }

    deinit { started.withLock { $0?.retire() } }

    /// Sends a request that the core has validated. See ``Transport/send(_:options:)``.
    @inline(__always) public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let loop = if let loop = started.withLock({ $0 }) { loop } else { try await loop(options) }
        return try await Transfer(request, options: options, loop: loop).response()
    }

    /// Returns the loop. If the process is out of file descriptors, waits until some are free, up to the request's
    /// timeout.
    @inline(never) func loop(_ options: TransportOptions) async throws -> CurlLoop {
        var since: ContinuousClock.Instant?
        while true {
            do { return try startedLoop() } catch is DescriptorShortage {
                let now = options.time.now
                if (since ?? now).duration(to: now) >= options.timeout {
                    throw ErrandError(
                        .timedOut, "no file descriptor became free within \(duration: options.timeout)")
                }
                since = since ?? now
            }
            await DescriptorPause.wait()
            if Task.isCancelled { throw Transfer.cancelled }
        }
    }

    private func startedLoop() throws -> CurlLoop {
        try started.withLock { started in
            if let loop = started { return loop }
            let loop = try CurlLoop(configuration)
            started = loop
            return loop
        }
    }
}

extension Transport where Self == CurlTransport {
    /// A new transport over libcurl with the default ``CurlConfiguration``.
    public static var curl: CurlTransport { CurlTransport() }

    /// Creates a transport over libcurl with a configuration.
    public static func curl(_ configuration: CurlConfiguration) -> CurlTransport { CurlTransport(configuration) }
}
#endif
