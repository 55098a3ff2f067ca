#if os(Linux)
public import Errand
import Synchronization

/// Carries requests with the system's libcurl, which is loaded at run time.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .curl)
/// ```
///
/// libcurl is loaded when the first transport is made. One thread and one pool of connections for each transport are made
/// at its first request. When the transport goes away
/// its connections are closed and its thread ends; a streamed body that still has a reader keeps them until it is over.
/// `send` throws ``ErrandError`` only: `transportUnavailable` where libcurl is missing or older than 7.76, and for what
/// libcurl reports a code of its own with a ``CurlError`` as `underlying`.
public final class CurlTransport: Transport {
    /// What it was made with.
    public let configuration: CurlConfiguration
    let started = Mutex<CurlLoop?>(nil)

    /// Makes one. libcurl is loaded now, once for the process, while there are descriptors; what is wrong with it the first
    /// request throws. Nothing else is opened or started before that request.
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
    private func loop(_ options: TransportOptions) async throws -> CurlLoop {
        var since: ContinuousClock.Instant?
        while true {
            do { return try startedLoop() } catch is DescriptorShortage {
                let now = options.time.now
                if (since ?? now).duration(to: now) >= options.timeout {
                    throw ErrandError(
                        .timedOut, "the process or the system had no descriptors within \(options.timeout)")
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
    /// A transport of its own over the system's libcurl, configured as ``CurlConfiguration`` is by default.
    public static var curl: CurlTransport { CurlTransport() }

    /// A transport of its own over the system's libcurl.
    public static func curl(_ configuration: CurlConfiguration) -> CurlTransport { CurlTransport(configuration) }
}
#endif
