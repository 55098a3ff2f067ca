public import ErrandHTTP

/// Moves one HTTP exchange over the wire: a request goes out, a response comes back.
///
/// Choose a ready one in a word (`.curl`, `.urlSession`, `.stub`), or write one to put another client under every
/// agent:
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
/// A transport follows no redirect, keeps no cookie, no credential and no cache, and retries nothing beyond a reused
/// connection that turns out closed: that is Core's and the filters' work, so that it is the same on every transport.
/// It throws ``ErrandError``; it stops within a millisecond or two when its task is cancelled; it ends a wait in which
/// nothing is received for `options.timeout` with `timedOut`. Where a request may wait for a connection or a turn, it
/// calls ``TransportOptions/checkDeparture(of:)`` after that. It decodes content codings only if it then removes
/// `Content-Encoding` and `Content-Length`. A failure after the head of a body that it collects itself carries the head
/// and the beginning of the body as `response`; for a stream Core adds them. `ErrandTesting` has the suite that a
/// transport is expected to pass.
public protocol Transport: Sendable {
    /// Sends a request that Core has validated, and returns once the head of the response is there. If
    /// ``TransportOptions/collectsBody(ofStatus:)`` is true, it may wait for the whole body and return it in memory, which
    /// is faster.
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse
}
