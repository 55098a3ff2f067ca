#if os(Linux)
public import Errand
import Synchronization

/// Carries requests with the system's libcurl, which is loaded at run time.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .curl)
/// ```
///
/// One thread and one pool of connections for each transport, made at its first request. When the transport goes away
/// its connections are closed and its thread ends; a streamed body that still has a reader keeps them until it is over.
/// `send` throws ``ErrandError`` only: `transportUnavailable` where libcurl is missing or older than 7.76, and for what
/// libcurl reports a code of its own with a ``CurlError`` as `underlying`.
public final class CurlTransport: Transport {
    /// What it was made with.
    public let configuration: CurlConfiguration
    private let started = Mutex<CurlLoop?>(nil)

    /// Makes one; nothing is loaded, opened or started before the first request.
    public init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        self.configuration = configuration
    }

    deinit { started.withLock { $0?.retire() } }

    /// Sends a request that Core has validated; see ``Transport/send(_:options:)``.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let loop = try started.withLock { started in
            if let loop = started { return loop }
            let loop = try CurlLoop(configuration)
            started = loop
            return loop
        }
        let transfer = try Transfer(request, options, loop)
        return try await transfer.response()
    }
}

extension Transport where Self == CurlTransport {
    /// A transport of its own over the system's libcurl, configured as ``CurlConfiguration`` is by default.
    public static var curl: CurlTransport { CurlTransport() }

    /// A transport of its own over the system's libcurl.
    public static func curl(_ configuration: CurlConfiguration) -> CurlTransport { CurlTransport(configuration) }
}
#endif
