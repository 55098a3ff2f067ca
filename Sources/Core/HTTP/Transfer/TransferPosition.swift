/// The position of a request on the wire among the requests of its call.
///
/// ```swift
/// func activity(_ activity: Activity, did event: ActivityEvent) {
///     if case .sending(let request, let position) = event { print(request.method, position) }  // GET attempt 2, hop 1
/// }
/// ```
public struct TransferPosition: Sendable, Hashable, CustomStringConvertible {
    /// The number of the request among all requests that the call passed to the transport, from 1. Unique in a call, so
    /// it connects the events of one request, even if several requests run at the same time.
    public var transfer: Int
    /// The number of the attempt, from 1. A retry and a hedged request begin a new attempt.
    public var attempt: Int
    /// The number of the hop within the attempt, from 1. A redirect begins a new hop. A filter that repeats a request,
    /// for example with a new credential, can send several requests within a hop.
    public var hop: Int

    /// Creates a position, for example for a test. Defaults to a call's first request.
    public init(transfer: Int = 1, attempt: Int = 1, hop: Int = 1) {
        (self.transfer, self.attempt, self.hop) = (transfer, attempt, hop)
    }

    /// The attempt and the hop, such as "attempt 2, hop 1".
    public var description: String { "attempt \(attempt), hop \(hop)" }
}
