public import ErrandEssentials
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
/// `ErrandTesting` has the suite that such a transport is expected to pass.
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

/// Bytes in both directions, over one connection that nothing else uses.
///
/// From any thread; one reader at a time. Its last release closes the connection.
public protocol ByteConnection: AnyObject, Sendable {
    /// The next bytes, as many as have arrived; nil once the peer has sent its last one. Bytes that are not taken hold
    /// the peer back. Throws ``ErrandError``: `connectionLost`, and `cancelled` after ``close()``; a cancelled task
    /// ends the wait alone.
    func receive() async throws -> Data?

    /// Adds bytes to those to be sent, behind those of earlier calls; never waits, and sends nothing yet. Without
    /// effect once the connection has ended.
    func enqueue(_ data: Data)

    /// Begins to send what was added, and does not wait for it.
    func push()

    /// Sends what was added, and returns when the system has all of it. Throws as ``receive()``; a cancelled task ends
    /// the wait alone, and the bytes are sent.
    func flush() async throws

    /// The number of bytes that were added and that the system has not taken.
    var pendingBytes: Int { get }

    /// Closes the connection at once; bytes that the system has not taken are lost.
    func close()
}

/// A request that asks for another protocol on its connection: the status 101 is its success (RFC 9110, section
/// 15.2.2), beside those that it accepts. For a protocol of a plugin's, whose filter replaces the transport of the
/// exchange.
public protocol UpgradeRequest: Request {}

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
