/// The places on the way of a request where filters stand.
///
/// ```
/// call filters → redirects → hop filters → wire filters → transport
/// ```
public struct FilterStages: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int
    /// From bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Once for a call, before redirects: URL filters, a timed cache, retry, a login gate.
    public static let call = FilterStages(rawValue: 1)
    /// Once for each request on the wire, so for each redirect and each retry: cookies, credentials, an HTTP cache.
    /// A filter for the call and the hop stage finds the current one in ``Exchange/stage``.
    public static let hop = FilterStages(rawValue: 2)
    /// Once for each request that reaches the transport, after all hop filters wherever they stand in the array: limits
    /// of a host, a breaker, faults of a test. What an HTTP cache responds to never gets here.
    public static let wire = FilterStages(rawValue: 4)
}
