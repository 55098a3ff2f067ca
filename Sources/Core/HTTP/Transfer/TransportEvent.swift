/// An event that a transport reports while it works. Cases may be added: write a `default`.
public enum TransportEvent: Sendable {
    /// Body bytes sent and received so far.
    case progress(TransferProgress)
    /// A 1xx response before the final one.
    case informational(status: Int, headers: HTTPHeaders)
    /// Trailer fields after a chunked body.
    case trailers(HTTPHeaders)
    /// No network is available that the request may use, and the transport waits for one; the request's timeout bounds
    /// the wait.
    case waitingForConnectivity
    /// The exchange has ended on the wire.
    indirect case timings(TransferTimings)
}
