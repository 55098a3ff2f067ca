/// What a transport can report while it works. Cases may be added: write a `default`.
public enum TransportEvent: Sendable {
    /// Body bytes sent and received so far.
    case progress(TransferProgress)
    /// A 1xx response before the final one.
    case informational(status: Int, headers: HTTPHeaders)
    /// Trailer fields after a chunked body.
    case trailers(HTTPHeaders)
    /// The exchange is over on the wire.
    indirect case timings(TransferTimings)
}
