import Errand
import ErrandEssentials

/// Makes the request of a socket an opening handshake, on each attempt and hop of it, and checks the response.
struct OpeningFilter: Filter {
    /// The socket; nil where the request is sent as a request.
    let core: SocketCore?

    var stages: FilterStages { .wire }
    var traits: FilterTraits { [.changesRequest, .unique] }
    var explanation: String { "opening handshake of a WebSocket" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let core else {
            throw WebSocketError(.notASocket, "a socket is opened with the agent's socket(_:), not sent as a request")
        }
        core.clock.keep(exchange.time)
        let base = try exchange.transport.connecting()
        var exchange = exchange
        guard exchange.http.method == .get, exchange.http.body.isNone else {
            throw ErrandError(.invalidRequest, "the opening handshake of a WebSocket is a GET without a body")
        }
        let handshake = OpeningHandshake(core.options.subprotocols, core.options.compression)
        handshake.prepare(&exchange.http.headers)
        exchange.transport = UpgradeTransport(base: base)
        var response = try await next(exchange)
        guard let connection = response.connection else { return response }
        response.connection = nil
        let agreement = try handshake.check(response)
        response.connection = OpenedConnection(connection, agreement, exchange)
        return response
    }
}

/// The connection of an opened socket, with what was agreed on.
final class OpenedConnection: ByteConnection {
    let agreement: OpeningHandshake.Agreement
    let exchange: Exchange
    private let base: any ByteConnection

    init(_ base: any ByteConnection, _ agreement: OpeningHandshake.Agreement, _ exchange: Exchange) {
        (self.base, self.agreement, self.exchange) = (base, agreement, exchange)
    }

    var pendingBytes: Int { base.pendingBytes }
    func receive() async throws -> Data? { try await base.receive() }
    func enqueue(_ data: Data) { base.enqueue(data) }
    func push() { base.push() }
    func flush() async throws { try await base.flush() }
    func close() { base.close() }
}
