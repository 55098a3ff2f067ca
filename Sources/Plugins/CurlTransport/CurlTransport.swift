// Start here: `transport: .curl`, or ``CurlTransport`` with a ``CurlConfiguration``.
//
// Transfer/  one exchange: its request, its response, its errors and timings
// Connection/  connections for other protocols than HTTP
// Alternatives/  the servers that offer HTTP/3
// Loop/      the thread that waits for sockets and timers, and the tables of sockets and origins
// Library/   libcurl: loading, versions, handles, options
// Coding/    content codings
// CShim/     the calls that Swift cannot make

#if os(Linux) || os(Android)
public import Errand
import Synchronization

/// Sends requests with the system's libcurl, which is loaded at run time, or with a linked one.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .curl)
/// ```
///
/// libcurl is loaded when the first transport is made. Each transport starts one thread and one pool of connections at
/// its first request. When the transport is released, its connections are closed and its thread ends; a streamed body
/// that still has a reader keeps them until it has ended. `send` throws only ``ErrandError``: `transportUnavailable` if
/// libcurl is missing or older than 7.76, and a code for each error of libcurl with a ``CurlError`` as `underlying`.
public final class CurlTransport: Transport {
    /// The settings of the transport.
    public let configuration: CurlConfiguration
    let started = Mutex<CurlLoop?>(nil)

    /// Makes a transport. libcurl is loaded now, once for the process, if there are descriptors; its failure is thrown
    /// by the first request. Nothing else is opened or started before that request.
    public init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        self.configuration = configuration
        _ = try? CurlLibrary.load()
        _ = ContentCoding.accepted
    }

    deinit { started.withLock { $0?.retire() } }

    /// Sends a request that Core has validated; see ``Transport/send(_:options:)``.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let loop = if let loop = started.withLock({ $0 }) { loop } else { try await loop(options) }
        return try await Transfer(request, options, loop).response()
    }

    /// Waits while there are no descriptors for one, for as long as the request's timeout.
    @inline(never) func loop(_ options: TransportOptions) async throws -> CurlLoop {
        var since: ContinuousClock.Instant?
        while true {
            do { return try startedLoop() } catch is DescriptorShortage {
                let now = options.time.now
                if (since ?? now).duration(to: now) >= options.timeout {
                    throw ErrandError(
                        .timedOut, "the process or the system had no descriptors within \(duration: options.timeout)")
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
    /// A new transport over the system's libcurl, with the default ``CurlConfiguration``.
    public static var curl: CurlTransport { CurlTransport() }

    /// A new transport over the system's libcurl.
    public static func curl(_ configuration: CurlConfiguration) -> CurlTransport { CurlTransport(configuration) }
}
#endif
