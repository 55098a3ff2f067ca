import Errand
import ErrandDigests
import ErrandEssentials
import ErrandMessageSyntax

/// Turns each attempt and redirect into an opening handshake.
struct OpeningFilter: Filter {
    /// The state of the socket to open. It's nil if the request was sent like an ordinary request.
    let core: SocketCore?

    var stages: FilterStages { .wire }
    /// Caches and signatures needn't know the handshake's header fields, because the fields apply only to the
    /// connection.
    var traits: FilterTraits { .unique }
    var explanation: String { "opening handshake of a WebSocket" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let core else {
            throw WebSocketError(.notASocket, "open this request with the agent's webSocket(_:) instead of sending it")
        }
        core.clock.keep(exchange.time)
        let base = try exchange.transport.connecting()
        var exchange = exchange
        guard exchange.http.method == .get, exchange.http.body.isNone else {
            throw ErrandError(.invalidRequest, "a WebSocket request must be a GET without a body")
        }
        let handshake = OpeningHandshake(core.options.subprotocols, core.options.compression)
        handshake.prepare(&exchange.http.headers)
        exchange.transport = UpgradeTransport(base: base)
        var response = try await next(exchange)
        guard let connection = response.connection else { return response }
        response.connection = nil
        let agreement = try handshake.check(response)
        response.connection = OpenedConnection(connection, agreement: agreement, exchange: exchange)
        return response
    }
}

final class OpenedConnection: ByteConnection {
    let agreement: OpeningHandshake.Agreement
    let exchange: Exchange
    private let base: any ByteConnection

    init(_ base: any ByteConnection, agreement: OpeningHandshake.Agreement, exchange: Exchange) {
        (self.base, self.agreement, self.exchange) = (base, agreement, exchange)
    }

    var pendingBytes: Int { base.pendingBytes }
    func receive() async throws -> Data? { try await base.receive() }
    func enqueue(_ data: Data) { base.enqueue(data) }
    func push() { base.push() }
    func flush() async throws { try await base.flush() }
    func close() { base.close() }
}

/// The header fields of an opening handshake (RFC 6455, section 4.1).
struct OpeningHandshake: Sendable {
    let key: String
    let subprotocols: [String]
    let compression: WebSocketCompression

    struct Agreement {
        var subprotocol: String?
        var deflate: DeflateAgreement?
    }

    init(_ subprotocols: [String], _ compression: WebSocketCompression) {
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        self.init(key: Data(bytes).base64EncodedString(), subprotocols, compression)
    }

    init(key: String, _ subprotocols: [String], _ compression: WebSocketCompression) {
        self.key = key
        self.subprotocols = subprotocols
        self.compression = compression.isEnabled && !Self.hasDeflate ? .off : compression
    }

    private static var hasDeflate: Bool { MessageDeflater.isAvailable }

    func prepare(_ headers: inout HTTPHeaders) {
        headers.set(.connection, "Upgrade")
        headers.set(.upgrade, "websocket")
        headers.set(.secWebSocketVersion, "13")
        headers.set(.secWebSocketKey, key)
        if !subprotocols.isEmpty { headers.set(.secWebSocketProtocol, subprotocols.joined(separator: ", ")) }
        if compression.isEnabled { headers.set(.secWebSocketExtensions, DeflateAgreement.offer(compression)) }
    }

    func check(_ response: HTTPResponse) throws(WebSocketError) -> Agreement {
        func fail(_ message: String) -> WebSocketError {
            WebSocketError(.handshakeFailed, "\(message): \(response)", response: response)
        }
        let headers = response.headers
        guard let upgrade = headers[.upgrade], ASCII.equalsIgnoringCase(upgrade, "websocket") else {
            throw fail("expected an upgrade to websocket, got another protocol")
        }
        guard let connection = headers[.connection], FieldList.contains("upgrade", in: connection) else {
            throw fail("the response's Connection header doesn't contain upgrade")
        }
        guard headers.values(of: .secWebSocketAccept) == [accept] else {
            throw fail("the server's Sec-WebSocket-Accept doesn't match the key")
        }
        var agreement = Agreement()
        // Some servers send an empty field if they haven't chosen a subprotocol.
        let chosen = headers.values(of: .secWebSocketProtocol).filter { !$0.isEmpty }
        if !chosen.isEmpty {
            guard chosen.count == 1, subprotocols.contains(chosen[0]) else {
                throw fail("the server chose a subprotocol that wasn't offered")
            }
            agreement.subprotocol = chosen[0]
        }
        do { agreement.deflate = try .accepted(headers.values(of: .secWebSocketExtensions), compression) } catch {
            throw fail(error.message)
        }
        return agreement
    }

    /// The response's expected `Sec-WebSocket-Accept` value. It proves that the server has processed the key.
    var accept: String {
        Data(SHA1Digest.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
    }
}
