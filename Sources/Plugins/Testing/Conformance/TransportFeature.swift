/// A part of what a transport promises; the cases of ``TransportConformance`` are grouped by it. Cases may be added: write a `default`.
public enum TransportFeature: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Lengths, chunks, HEAD, 204, 304: where a response ends.
    case framing
    /// Fields of requests and responses, methods and targets.
    case headers
    /// Responses that others act on: redirects, challenges, cookies.
    case neutrality
    /// 1xx responses before the real one.
    case informational
    /// Fields after a chunked body.
    case trailers
    /// gzip and deflate.
    case codings
    /// Responses in parts.
    case ranges
    /// Connections that end at the wrong moment, and responses that are none.
    case faults
    /// Connections used again.
    case reuse
    /// Bodies of requests in memory.
    case uploads
    /// Bodies of requests that are streams.
    case streamedUploads
    /// Giving up, at every stage.
    case cancellation
    /// Silence.
    case timeouts
    /// A slow reader holds back the server.
    case backpressure
    /// A slow server holds back the source of a request's body.
    case uploadBackpressure
    /// Many at once.
    case load
    /// What is reported while it works.
    case events
    /// What happens to connections when the transport goes away.
    case lifetime

    /// Its name.
    public var description: String { rawValue }
}
