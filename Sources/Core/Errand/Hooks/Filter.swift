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
    /// Sends the exchange through the rest of the way by calling `next`, and returns a response; off the caller's actor.
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

/// A filter made of a closure.
public struct ClosureFilter: Filter {
    /// Where it stands.
    public let stages: FilterStages
    private let body: @Sendable (Exchange, Next) async throws -> HTTPResponse

    /// For a stage, the call filters' by default.
    public init(_ stages: FilterStages = .call, body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse)
    {
        self.stages = stages
        self.body = body
    }

    /// Runs the closure.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await body(exchange, next) }
}

extension Filter where Self == ClosureFilter {
    /// `filters: [.closure { exchange, next in try await next(exchange) }]`
    public static func closure(
        _ stages: FilterStages = .call, body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse
    ) -> ClosureFilter { ClosureFilter(stages, body: body) }
}
