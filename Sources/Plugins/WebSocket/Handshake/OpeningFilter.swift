import Errand
import ErrandEssentials
import Synchronization

/// Makes the request of a socket an opening handshake, on each attempt and hop of it, and checks the response.
struct OpeningFilter: Filter {
    /// Nil where the request is sent as a request.
    let opening: SocketOpening?

    var stages: FilterStages { .wire }
    var traits: FilterTraits { [.changesRequest, .unique] }
    var explanation: String { "opening handshake of a WebSocket" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let opening else {
            throw WebSocketError(.notASocket, "a socket is opened with the agent's socket(_:), not sent as a request")
        }
        opening.clock.keep(exchange.time)
        let base = try exchange.transport.connecting()
        var exchange = exchange
        guard exchange.http.method == .get, exchange.http.body.isNone else {
            throw ErrandError(.invalidRequest, "the opening handshake of a WebSocket is a GET without a body")
        }
        let handshake = OpeningHandshake(opening.options.subprotocols, opening.options.compression)
        handshake.prepare(&exchange.http.headers)
        exchange.transport = UpgradeTransport(base: base, opening: opening)
        let response = try await next(exchange)
        guard response.status == 101 else { return response }
        let agreement: OpeningHandshake.Agreement
        do { agreement = try handshake.check(response) } catch {
            opening.discard()
            throw error
        }
        opening.keep(agreement, exchange)
        return response
    }
}

/// The way from a handshake to its socket.
final class SocketOpening: Sendable {
    /// An open connection, with what was agreed on.
    struct Opened {
        let connection: any ByteConnection
        /// The bytes that were received behind the response.
        let rest: Data
        let agreement: OpeningHandshake.Agreement
        let exchange: Exchange
    }

    private struct State {
        var connection: (any ByteConnection)?
        var rest = Data()
        var agreement: OpeningHandshake.Agreement?
        var exchange: Exchange?
        /// Nothing is kept any longer.
        var isOver = false
    }

    let options: SocketOptions
    let clock: SocketClock
    private let state = Mutex(State())

    init(_ options: SocketOptions, _ clock: SocketClock) { (self.options, self.clock) = (options, clock) }

    deinit { discard() }

    func keep(_ connection: any ByteConnection, _ rest: Data) {
        let unwanted = state.withLock { state in
            if state.isOver { return connection as (any ByteConnection)? }
            defer { (state.connection, state.rest) = (connection, rest) }
            return state.connection
        }
        unwanted?.close()
    }

    func keep(_ agreement: OpeningHandshake.Agreement, _ exchange: Exchange) {
        let old = state.withLock { state in
            defer { if !state.isOver { (state.agreement, state.exchange) = (agreement, exchange) } }
            return state.exchange
        }
        withExtendedLifetime(old) {}
    }

    /// The connection, which belongs to the caller from now on.
    func take() -> Opened? {
        let taken = state.withLock { state in
            defer { state = State(isOver: state.isOver) }
            return state
        }
        guard let connection = taken.connection else { return nil }
        guard let agreement = taken.agreement, let exchange = taken.exchange else {
            connection.close()
            return nil
        }
        return Opened(connection: connection, rest: taken.rest, agreement: agreement, exchange: exchange)
    }

    func discard() { take()?.connection.close() }

    /// Closes a connection that nobody has taken, and one that comes later. Its exchange holds this object.
    func end() {
        let taken = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        taken.connection?.close()
        withExtendedLifetime(taken) {}
    }
}
