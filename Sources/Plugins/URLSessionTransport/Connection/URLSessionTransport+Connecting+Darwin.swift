#if !canImport(FoundationNetworking)
public import Errand
import Foundation
import Network

extension URLSessionTransport: ConnectingTransport {
    /// Opens a dedicated connection with Network.framework. See ``Errand/ConnectingTransport``.
    ///
    /// The connection follows this transport's network restrictions, proxies and server policy, but doesn't count
    /// toward the transport's connection limit.
    ///
    /// Throws `transportUnavailable` for a background configuration or a `connectionProxyDictionary`. With https, it
    /// also throws this error if a closure decides on challenges.
    public func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        try check(request.url)
        let target = try ConnectionTarget(request.url)
        let parameters = NetworkParameters(
            target: target, configuration: session.configuration, policy: (delegate as? ChallengedDelegate)?.policy,
            tags: options.tags)
        try parameters.check()
        guard let port = NWEndpoint.Port("\(target.port)") else {
            throw ErrandError(.invalidURL, "the URL's port isn't between 1 and 65535")
        }
        let rejection = ServerRejection()
        let driver = NetworkDriver(
            connection: NWConnection(
                to: .hostPort(host: NWEndpoint.Host(target.host), port: port), using: parameters.made(rejection)),
            queue: queue, options: options, rejection: rejection,
            waitsForConnectivity: parameters.configuration.waitsForConnectivity)
        let connection = SystemConnection(driver)
        try await connection.open(options)
        return connection
    }
}
#endif
