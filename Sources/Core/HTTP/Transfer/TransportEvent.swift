/// An event that a transport reports. Later versions may add cases, so include a `default` when you switch.
public enum TransportEvent: Sendable {
    /// More body bytes were sent or received. Contains the bytes so far.
    case progress(TransferProgress)
    /// An informational response (1xx) arrived before the final response.
    case informational(status: Int, headers: HTTPHeaders)
    /// Trailer fields arrived after a chunked body.
    case trailers(HTTPHeaders)
    /// The transport waits for a network, up to the request's timeout.
    case waitingForConnectivity
    /// The request on the wire has ended. Contains the times of its phases.
    indirect case timings(TransferTimings)
}
