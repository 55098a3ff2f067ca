#if !canImport(FoundationNetworking)
public import Errand
import Foundation
import Network

extension URLSessionTransport: ConnectingTransport {
    /// Opens a connection that nothing else uses, over Network.framework, with the networks, the proxies and the policy
    /// for servers of this transport; see ``Errand/ConnectingTransport``. The configuration's number of connections does
    /// not count it.
    ///
    /// Throws `transportUnavailable` for a background configuration, for one with a `connectionProxyDictionary`, and for
    /// https where a closure decides on challenges: these cannot be applied to such a connection.
    public func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        try check()
        let target = try ConnectionTarget(request.url)
        let parameters = NetworkParameters(
            target: target, configuration: session.configuration, policy: (delegate as? ChallengedDelegate)?.policy,
            tags: options.tags)
        try parameters.check()
        guard let port = NWEndpoint.Port("\(target.port)") else {
            throw ErrandError(.invalidURL, "the port of the URL is not between 1 and 65535")
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
