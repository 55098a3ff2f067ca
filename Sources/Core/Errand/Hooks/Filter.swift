public import ErrandHTTP

/// Acts on the way of a request: may change it, respond by itself, call `next` several times, or judge the response.
///
/// Write a filter to *change* what happens; to watch only, write an ``Accessory``.
///
/// ```swift
/// struct AddTrace: Filter {
///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
///         var exchange = exchange
///         exchange.http.headers["X-Trace"] = "\(exchange.activity.id)"
///         return try await next(exchange)
///     }
/// }
/// ```
///
/// It runs off the caller's actor, several at once for several requests. Let errors and cancellation pass through.
public protocol Filter: Sendable {
    /// Where on the way it stands; `.call` by default.
    var stages: FilterStages { get }
    /// The properties that make its place among the others matter, for ``NetworkAgent/explain(_:options:)``; nothing by
    /// default.
    var traits: FilterTraits { get }
    /// The traits for one request, where they depend on it; ``traits`` by default.
    func traits(for request: any Request) -> FilterTraits
    /// A description in a few words, for ``NetworkAgent/explain(_:options:)``; the name of its type by default. Never a
    /// secret.
    var explanation: String { get }
    /// The problem with running after `outer`, a filter further out, for ``NetworkAgent/explain(_:options:)``: a clause
    /// without a full stop, such as "each attempt would be hedged twice". Nil by default; what traits say need not be
    /// repeated.
    func orderProblem(after outer: any Filter) -> String?
    /// The request as this filter would change it, as far as that is known without sending anything, for
    /// ``NetworkAgent/explain(_:options:)``; the same request by default. Must not wait.
    func preview(of request: HTTPRequest) throws -> HTTPRequest
    /// Sends the exchange through the rest of the way by calling `next`, and returns a response; off the caller's
    /// actor.
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse
}

extension Filter {
    /// ``FilterStages/call``
    public var stages: FilterStages { .call }
    /// None.
    public var traits: FilterTraits { [] }
    /// ``traits``
    public func traits(for request: any Request) -> FilterTraits { traits }
    /// The name of the type.
    public var explanation: String { "\(type(of: self))" }
    /// Nil.
    public func orderProblem(after outer: any Filter) -> String? { nil }
    /// The same request.
    public func preview(of request: HTTPRequest) throws -> HTTPRequest { request }
}

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

/// A filter that stands for several, each in its own stage, at its place in the array.
///
/// ```swift
/// struct Courtesy: FilterGroup {
///     let filters: [any Filter]
///     init(_ first: any Filter, _ second: any Filter) { filters = [first, second] }
/// }
/// ```
///
/// Core puts the members in its place; its own `filter`, stages and traits are not used.
/// ``NetworkAgent/explain(_:options:)`` shows the members.
public protocol FilterGroup: Filter {
    /// The members, in the order in which they run within a stage. A member may be a group.
    var filters: [any Filter] { get }
}

extension FilterGroup {
    /// Passes the exchange on: the members do the work.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

extension [any Filter] {
    /// With the members of groups in their places. A group within itself ends at 16 levels.
    func ungrouped(depth: Int = 16) -> [any Filter] {
        guard depth > 0, contains(where: { $0 is any FilterGroup }) else { return self }
        return flatMap { ($0 as? any FilterGroup)?.filters.ungrouped(depth: depth - 1) ?? [$0] }
    }
}

/// A request that requires filters to keep its promise, and provides them.
///
/// A plugin's request protocol refines it, so that the plugin's filter cannot be forgotten:
///
/// ```swift
/// public protocol SignedRequest: FilterProvidingRequest { var key: SecretKey { get } }
///
/// extension SignedRequest {
///     public var requiredFilters: [any Filter] { [Signature(key)] }
/// }
/// ```
///
/// The required filters run after the agent's of the same stage and before the request's own. An agent may have the
/// same filter installed, with options of its own: Core then leaves out the required one, if that has the trait
/// ``FilterTraits/unique``. A type that conforms to two such protocols declares which filters it requires; the compiler
/// asks for that.
public protocol FilterProvidingRequest: Request {
    /// Run after the agent's filters of the same stage.
    var requiredFilters: [any Filter] { get }
}

/// The value of a tag that requires filters to keep its promise, and provides them.
///
/// A mode that must not send, for instance, provides a filter that throws where no plugin has handled the mode:
///
/// ```swift
/// extension OfflineMode: FilterProvidingTag {
///     public var requiredFilters: [any Filter] { [OfflineGuard()] }
/// }
/// ```
///
/// Unlike ``CallOptions/filters`` the filters reach each member of a batch and each step of a chain, because the tags
/// do.
public protocol FilterProvidingTag: Sendable {
    /// Run after all other filters of the same stage.
    var requiredFilters: [any Filter] { get }
}

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
