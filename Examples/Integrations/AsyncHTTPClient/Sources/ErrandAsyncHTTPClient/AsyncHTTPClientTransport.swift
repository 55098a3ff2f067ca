public import AsyncHTTPClient
public import Errand
import NIOCore

/// Sends requests with AsyncHTTPClient, for programs that have it already.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .asyncHTTPClient)
/// ```
///
/// Redirects, cookies, caches, retries and traces are the agent's, so the client has none of them. Bodies stream in both
/// directions; a content coding stays on the body. A request may wait for a connection without another look of a filter, and 1xx
/// responses and trailers are not reported: the client shows neither.
public struct AsyncHTTPClientTransport: Transport {
    private let client: ClientReference

    /// Makes a transport with a client of its own on the shared event loops, which ends with the last copy of the transport and
    /// the last of its streams.
    ///
    /// - Parameter configuration: of the client; see ``configuration`` for the default.
    public init(_ configuration: HTTPClient.Configuration = Self.configuration) {
        client = ClientReference(
            HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration), isOwned: true)
    }

    /// Makes a transport with a client of the app's, which shuts it down after the agent's end.
    ///
    /// - Parameter client: one that follows no redirects and decompresses nothing; see ``configuration``.
    public init(_ client: HTTPClient) { self.client = ClientReference(client, isOwned: false) }

    /// No redirects, no decompression, no retries of connections, no tracing, 64 connections to a host.
    public static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, decompression: .disabled)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // The inactivity of the agent ends a wait before that.
        configuration.timeout.connect = .minutes(1)
        configuration.tracing.tracer = nil
        return configuration
    }

    /// Sends a request, and returns once the head of the response is there.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        try Task.checkCancellation()
        return try await ClientExchange(client, request, options).response()
    }
}

extension Transport where Self == AsyncHTTPClientTransport {
    /// `NetworkAgent(baseURL: url, transport: .asyncHTTPClient)`
    public static var asyncHTTPClient: AsyncHTTPClientTransport { AsyncHTTPClientTransport() }

    /// `NetworkAgent(baseURL: url, transport: .asyncHTTPClient(client))`
    public static func asyncHTTPClient(_ client: HTTPClient) -> AsyncHTTPClientTransport {
        AsyncHTTPClientTransport(client)
    }
}

/// A client, shut down with its last user where it is the transport's own.
final class ClientReference: Sendable {
    let client: HTTPClient
    private let isOwned: Bool

    init(_ client: HTTPClient, isOwned: Bool) { (self.client, self.isOwned) = (client, isOwned) }

    deinit {
        guard isOwned else { return }
        Task.detached { [client] in try? await client.shutdown() }
    }
}
