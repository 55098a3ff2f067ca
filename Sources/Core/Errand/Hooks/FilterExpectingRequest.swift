/// A request with members that have no effect without a filter which the agent, the request or the call has to name.
///
/// A plugin's request protocol refines it where it cannot bring the filter along, as
/// ``FilterProvidingRequest`` does, because the filter needs something of the app:
///
/// ```swift
/// public protocol SealedRequest: FilterExpectingRequest { var seal: String { get } }
///
/// extension SealedRequest {
///     public func problems(with filters: [any Filter]) -> [String] {
///         filters.contains { $0 is Signature } ? [] : ["the seal has no effect: no Signature is among the filters"]
///     }
/// }
/// ```
///
/// ``NetworkAgent/explain(_:options:)`` shows the problems, and debug builds write each of them to standard error,
/// once. A type that conforms to two such protocols implements the function itself; the compiler asks for that.
public protocol FilterExpectingRequest: Request {
    /// A sentence without a full stop for each expectation that none of the filters meets.
    ///
    /// - Parameter filters: all on the way of the request, with the members of groups in place of the groups.
    func problems(with filters: [any Filter]) -> [String]
}
