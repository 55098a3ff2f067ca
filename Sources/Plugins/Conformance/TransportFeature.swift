import ErrandTesting

/// A feature of a transport; the cases of ``TransportConformance`` are grouped by it. Cases may be added: write a
/// `default`.
public enum TransportFeature: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The end of a response: lengths, chunks, HEAD, 204, 304.
    case framing
    /// Fields of requests and responses, methods and targets.
    case headers
    /// Responses that others handle: redirects, challenges, cookies.
    case neutrality
    /// 1xx responses before the final one.
    case informational
    /// Fields after a chunked body.
    case trailers
    /// gzip and deflate.
    case codings
    /// Responses in parts.
    case ranges
    /// Connections that end at the wrong moment, and invalid responses.
    case faults
    /// Connections used again.
    case reuse
    /// Bodies of requests in memory.
    case uploads
    /// Bodies of requests that are streams.
    case streamedUploads
    /// Cancellation at every stage.
    case cancellation
    /// Silence.
    case timeouts
    /// A slow reader holds back the server.
    case backpressure
    /// A slow server holds back the source of a request's body.
    case uploadBackpressure
    /// Many requests at once.
    case load
    /// A last check of requests that have waited for a connection.
    case departure
    /// The events that a transport reports while it works.
    case events
    /// Hosts with several addresses.
    case addresses
    /// The end of connections when the transport goes away.
    case lifetime

    /// Its name.
    public var description: String { rawValue }
}
