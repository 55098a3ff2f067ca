public import ErrandHTTP

/// Sends an HTTP request over the network and returns its response. Choose a built-in transport (`.curl`,
/// `.urlSession`, `.stub`), or implement the protocol to use another client:
///
/// ```swift
/// struct Echo: Transport {
///     func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
///         let body = try await request.body.open().collect(upTo: options.maximumBodyBytes)
///         return HTTPResponse(to: request, status: 200, headers: request.headers, body: HTTPBody(body))
///     }
/// }
/// ```
///
/// A transport:
///
/// - doesn't follow redirects or keep cookies, credentials or a cache. Core and filters do this for every transport.
/// - doesn't retry, unless a reused connection turns out to be closed.
/// - throws ``ErrandError``.
/// - stops within a millisecond or two when its task is cancelled.
/// - throws `timedOut` if no bytes arrive for `options.timeout`.
/// - calls ``TransportOptions/checkBeforeSending(_:)`` after a request has waited for a connection or its turn.
/// - removes `Content-Encoding` and `Content-Length` if it decodes content codings.
/// - if it fails while it collects a body, adds the head and the received bytes to the error as its `response`. For a
///   stream, Core does this.
///
/// Test it with the suite in `ErrandConformance`.
public protocol Transport: Sendable {
    /// Sends a validated request, and returns once the response's head has arrived. If
    /// ``TransportOptions/collectsBody(ofStatus:)`` is true, it can wait for the whole body and return it in memory,
    /// which is faster.
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse
}

/// A transport that also opens connections for other protocols, such as WebSocket.
///
/// ```swift
/// let connection = try await transport.connect(for: exchange.http, options: options)
/// connection.enqueue(Data("PING\r\n".utf8))
/// try await connection.flush()
/// let received = try await connection.receive()
/// connection.close()
/// ```
///
/// Test it with the suite in `ErrandConformance`.
public protocol ConnectingTransport: Transport {
    /// Opens a separate connection to the request's host with the request's TLS, proxy, pins and time limits. Doesn't
    /// send the request. Completes an https request's TLS handshake and opens a proxy's tunnel.
    ///
    /// Throws the errors that ``Transport/send(_:options:)`` throws before sending. Cancelling the task ends the
    /// attempt.
    func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection
}

extension Transport {
    /// Returns the transport if it can open connections, or throws `transportUnavailable`.
    ///
    /// ```swift
    /// let connection = try await transport.connecting().connect(for: exchange.http, options: options)
    /// ```
    public func connecting() throws(ErrandError) -> any ConnectingTransport {
        guard let connecting = self as? any ConnectingTransport else {
            throw ErrandError(.transportUnavailable, "\(type(of: self)) can't open WebSocket connections")
        }
        return connecting
    }
}

extension Exchange {
    /// The transport for the request. A wire filter can replace it with a wrapper for this exchange, for example to
    /// open a connection for another protocol. Core still handles events, checks and evidence.
    public var transport: any Transport {
        get { replacedTransport?.transport ?? settings.transport }
        set { self = with { $0.transport = TransportReference(newValue) } }
    }

    /// Encodes a body's `Encodable` value with the body's own encoder or the agent's. Returns other bodies unchanged.
    /// Throws `encodingFailed`.
    public func encoded(_ body: RequestBody) throws -> RequestBody {
        body.isResolved ? body : try body.resolved(by: settings.encoder)
    }
}

/// A reference to the transport. A class, to keep exchanges and async frames small.
final class TransportReference: Sendable {
    let transport: any Transport

    init(_ transport: any Transport) { self.transport = transport }
}
