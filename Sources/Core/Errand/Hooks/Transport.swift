public import ErrandHTTP

/// Sends an HTTP request over the network and returns its response.
///
/// Choose a built-in transport (`.curl`, `.urlSession`, `.stub`), or implement the protocol to use another client:
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
/// - doesn't follow redirects or keep cookies, credentials or a cache. Core and filters do, the same way for every
///   transport.
/// - doesn't retry, unless a reused connection turns out to be closed.
/// - throws ``ErrandError``.
/// - stops within a millisecond or two when its task is cancelled.
/// - throws `timedOut` if no bytes arrive for `options.timeout`.
/// - calls ``TransportOptions/checkDeparture(of:)`` after a request has waited for a connection or its turn.
/// - removes `Content-Encoding` and `Content-Length` if it decodes content codings.
/// - adds the head and the bytes received so far as the `response` of an error, if it fails while it collects a body.
///   For a stream, Core does.
///
/// `ErrandTesting` contains a test suite that a transport should pass.
public protocol Transport: Sendable {
    /// Sends a request, which Core has validated, and returns once the head of the response has arrived. If
    /// ``TransportOptions/collectsBody(ofStatus:)`` is true, it can wait for the whole body and return it in memory,
    /// which is faster.
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse
}
