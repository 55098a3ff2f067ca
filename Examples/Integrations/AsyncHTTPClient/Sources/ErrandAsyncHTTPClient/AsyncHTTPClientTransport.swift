public import AsyncHTTPClient
public import Errand
import NIOCore

/// Sends requests with AsyncHTTPClient, for programs that already use it.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .asyncHTTPClient)
/// ```
///
/// The agent handles redirects, cookies, caches, retries and traces, so the client must not. Bodies stream in
/// both directions, and keep their content coding.
///
/// The client doesn't report when a request gets its connection, so filters can't take a last look at a request that
/// waited for one. It doesn't report 1xx responses and trailers either.
public struct AsyncHTTPClientTransport: Transport {
    private let client: ClientReference

    /// Creates a transport with its own client on the shared event loops. The client shuts down when the last copy of
    /// the transport and its last stream are gone.
    ///
    /// - Parameter configuration: the client's configuration. Defaults to ``configuration``.
    public init(_ configuration: HTTPClient.Configuration = Self.configuration) {
        client = ClientReference(
            HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration), isOwned: true)
    }

    /// Creates a transport that uses your app's client. Shut the client down after the agent is gone.
    ///
    /// - Parameter client: a client that doesn't follow redirects or decompress bodies; see ``configuration``.
    public init(_ client: HTTPClient) { self.client = ClientReference(client, isOwned: false) }

    /// No redirects, no decompression, no connection retries, no tracing, 64 connections per host.
    public static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, decompression: .disabled)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // The agent's inactivity timeout ends the wait earlier.
        configuration.timeout.connect = .minutes(1)
        configuration.tracing.tracer = nil
        return configuration
    }

    /// Sends a request, and returns when the response's head has arrived.
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

/// A client. If the transport owns it, it is shut down when its last user is gone.
final class ClientReference: Sendable {
    let client: HTTPClient
    private let isOwned: Bool

    init(_ client: HTTPClient, isOwned: Bool) { (self.client, self.isOwned) = (client, isOwned) }

    deinit {
        guard isOwned else { return }
        Task.detached { [client] in try? await client.shutdown() }
    }
}
