/// Acts on the way of a request: may change it, answer by itself, call `next` several times, or judge the answer.
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
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse
}

extension Filter {
    public var stages: FilterStages { .call }
}

/// The places on the way of a request where filters stand.
///
/// ```
/// call filters → redirects → hop filters → transport
/// ```
public struct FilterStages: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Once for a call, before redirects: URL filters, a timed cache, retry, a login gate.
    public static let call = FilterStages(rawValue: 1)
    /// Once for each request on the wire, so for each redirect and each retry: cookies, credentials, an HTTP cache.
    /// A filter for both stages finds its place in ``Exchange/stage``.
    public static let hop = FilterStages(rawValue: 2)
}

/// A filter made of a closure.
public struct ClosureFilter: Filter {
    public let stages: FilterStages
    private let body: @Sendable (Exchange, Next) async throws -> HTTPResponse

    public init(_ stages: FilterStages = .call, body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse)
    {
        self.stages = stages
        self.body = body
    }

    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await body(exchange, next) }
}

extension Filter where Self == ClosureFilter {
    /// `filters: [.closure { exchange, next in try await next(exchange) }]`
    public static func closure(
        _ stages: FilterStages = .call, body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse
    ) -> ClosureFilter { ClosureFilter(stages, body: body) }
}
