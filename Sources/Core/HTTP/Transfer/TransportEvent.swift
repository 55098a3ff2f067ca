/// An event that a transport reports while it works. Cases may be added, so include a `default` when you switch.
public enum TransportEvent: Sendable {
    /// Body bytes sent and received so far.
    case progress(TransferProgress)
    /// A 1xx response before the final response.
    case informational(status: Int, headers: HTTPHeaders)
    /// Trailer fields after a chunked body.
    case trailers(HTTPHeaders)
    /// No network that the request may use is available, so the transport waits for one, up to the request's timeout.
    case waitingForConnectivity
    /// The exchange has ended on the wire.
    indirect case timings(TransferTimings)
}
