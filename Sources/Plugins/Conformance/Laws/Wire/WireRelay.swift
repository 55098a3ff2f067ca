import ErrandTesting

/// Passes bytes between a transport and the laws' server in another form, such as TLS. See
/// ``TransportConformance/laws(for:through:laws:knownLimitations:within:)``.
///
/// A relay passes on bytes immediately in both directions, a close as a close, and a reset as a reset.
public protocol WireRelay: AnyObject, Sendable {
    /// The origin at which transports reach the server, such as `https://localhost:8443`.
    var url: String { get }
}

struct WireOrigin: Sendable {
    let server: TestServer
    private let relay: (any WireRelay)?

    init(_ server: TestServer, _ relay: WireBench.Relay?) throws {
        self.server = server
        self.relay = try relay?(server.port)
    }

    var url: String { relay?.url ?? server.url }
}
