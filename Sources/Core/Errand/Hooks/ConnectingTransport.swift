public import ErrandHTTP

/// A transport that also opens connections for other protocols than HTTP, such as a WebSocket.
///
/// ```swift
/// let connection = try await transport.connect(for: exchange.http, options: options)
/// connection.enqueue(Data("PING\r\n".utf8))
/// try await connection.flush()
/// let received = try await connection.receive()
/// connection.close()
/// ```
///
/// `ErrandConformance` has the suite that such a transport is expected to pass.
public protocol ConnectingTransport: Transport {
    /// Opens a connection of its own to the host of a request, with the TLS, the proxy, the pins and the limits of time
    /// that a request has, and sends nothing over it: for https the TLS handshake is complete, through a proxy the
    /// tunnel stands. Throws the errors that ``Transport/send(_:options:)`` throws before it sends. Cancelling the task
    /// ends the attempt.
    func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection
}

extension Transport {
    /// The transport as one that opens connections. Throws `transportUnavailable` where it opens none.
    ///
    /// ```swift
    /// let connection = try await transport.connecting().connect(for: exchange.http, options: options)
    /// ```
    public func connecting() throws(ErrandError) -> any ConnectingTransport {
        guard let connecting = self as? any ConnectingTransport else {
            throw ErrandError(.transportUnavailable, "\(type(of: self)) opens no connections for WebSockets")
        }
        return connecting
    }
}

extension Exchange {
    /// The transport that gets the request. A wire filter may replace it for this exchange by one of its own that uses
    /// it, such as one that opens a connection for another protocol: events, checks and evidence stay those of Core.
    public var transport: any Transport {
        get { replacedTransport?.transport ?? settings.transport }
        set { self = with { $0.transport = TransportReference(newValue) } }
    }

    /// A body with its value encoded by the agent's encoder, where it has none of its own; a body in bytes as it is.
    /// Throws `encodingFailed`.
    public func encoded(_ body: RequestBody) throws -> RequestBody {
        body.isResolved ? body : try body.resolved(by: settings.encoder)
    }
}

/// A transport by reference, so that an exchange and the frames of a request stay small.
final class TransportReference: Sendable {
    let transport: any Transport

    init(_ transport: any Transport) { self.transport = transport }
}
