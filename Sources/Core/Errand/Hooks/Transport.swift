public import ErrandHTTP

/// Sends one HTTP request over the network and returns its response.
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
/// Requirements for an implementation:
///
/// - It doesn't follow redirects, and doesn't keep cookies, credentials or a cache. Core and filters do, in the same
///   way for every transport.
/// - It doesn't retry, except if a reused connection turns out to be closed.
/// - It throws ``ErrandError``.
/// - It stops within a millisecond or two when its task is cancelled.
/// - It throws `timedOut` if it receives no bytes for `options.timeout`.
/// - If a request can wait for a connection or its turn, it calls ``TransportOptions/checkDeparture(of:)`` after the
///   wait.
/// - If it decodes content codings, it removes `Content-Encoding` and `Content-Length`.
/// - If it collects a body itself and fails after the head, the error's `response` contains the head and the bytes
///   received so far. For a stream, Core adds them.
///
/// `ErrandTesting` contains the test suite that a transport is expected to pass.
public protocol Transport: Sendable {
    /// Sends a request, which Core has validated, and returns as soon as the head of the response has arrived. If
    /// ``TransportOptions/collectsBody(ofStatus:)`` is true, it can wait for the whole body and return it in memory,
    /// which is faster.
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse
}
