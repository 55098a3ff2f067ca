import ErrandTesting

/// A feature of transports, which groups the cases of ``TransportConformance``. More may be added, so write a `default`
/// in a switch.
public enum TransportFeature: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The end of a response: lengths, chunks, HEAD, 204, 304.
    case framing
    /// Fields of requests and responses, methods and targets.
    case headers
    /// Responses that transports must leave alone: redirects, challenges, cookies.
    case neutrality
    /// 1xx responses before the final one.
    case informational
    /// Fields after a chunked body.
    case trailers
    /// The content codings gzip and deflate.
    case codings
    /// Partial responses.
    case ranges
    /// Connections that end at the wrong moment, invalid responses.
    case faults
    /// Connection reuse.
    case reuse
    /// Request bodies in memory.
    case uploads
    /// Streamed request bodies.
    case streamedUploads
    /// Cancellation at every stage.
    case cancellation
    /// Timeouts when the server is silent.
    case timeouts
    /// A slow reader slows down the server.
    case backpressure
    /// A slow server slows down the source of a request's body.
    case uploadBackpressure
    /// Many requests at once.
    case load
    /// The last check of requests that have waited for a connection.
    case departure
    /// The events a transport reports while it works.
    case events
    /// Hosts with several addresses.
    case addresses
    /// Connections close when the transport is deallocated.
    case lifetime

    /// The feature's name.
    public var description: String { rawValue }
}
