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
