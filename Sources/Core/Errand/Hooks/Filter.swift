public import ErrandHTTP

/// Intercepts a request. A filter can change the request, answer it without sending it, send it more than once, or
/// reject the response.
///
/// To only observe requests, write an ``Accessory``.
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
/// A filter runs off the caller's actor, concurrently for concurrent requests. Let errors and cancellation pass
/// through.
public protocol Filter: Sendable {
    /// The stages in which the filter runs. Defaults to `.call`.
    var stages: FilterStages { get }
    /// Properties that restrict the order of filters. Defaults to empty.
    var traits: FilterTraits { get }
    /// Returns the traits for one request. Defaults to ``traits``.
    func traits(for request: any Request) -> FilterTraits
    /// A short description for ``NetworkAgent/explain(_:options:)``, without secrets. Defaults to the name of the type.
    var explanation: String { get }
    /// Returns the description for one request. Defaults to ``explanation``.
    func explanation(for request: any Request) -> String
    /// Returns the problem with running after `outer`, an earlier filter, for ``NetworkAgent/explain(_:options:)``.
    /// Write a clause, such as "each attempt would be hedged twice". Don't repeat problems that follow from traits.
    /// Defaults to nil.
    func orderProblem(after outer: any Filter) -> String?
    /// Returns the request as this filter would change it, for ``NetworkAgent/explain(_:options:)``. Must not wait or
    /// send anything. Defaults to the unchanged request.
    func preview(of request: HTTPRequest) throws -> HTTPRequest
    /// Processes an exchange. Call `next` to pass it to the remaining filters and the transport. Runs off the caller's
    /// actor.
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse
}

extension Filter {
    /// Returns ``FilterStages/call``.
    public var stages: FilterStages { .call }
    /// Returns no traits.
    public var traits: FilterTraits { [] }
    /// Returns ``traits``.
    public func traits(for request: any Request) -> FilterTraits { traits }
    /// Returns the name of the type.
    public var explanation: String { "\(type(of: self))" }
    /// Returns ``explanation``.
    public func explanation(for request: any Request) -> String { explanation }
    /// Returns nil.
    public func orderProblem(after outer: any Filter) -> String? { nil }
    /// Returns the request unchanged.
    public func preview(of request: HTTPRequest) throws -> HTTPRequest { request }
}

/// A request whose members need a certain filter to have an effect.
///
/// Refine it for a plugin's request protocol, if the app must configure the filter, so a ``FilterProvidingRequest``
/// can't provide it:
///
/// ```swift
/// public protocol SealedRequest: FilterDependentRequest { var seal: String { get } }
///
/// extension SealedRequest {
///     public func problems(with filters: [any Filter]) -> [String] {
///         filters.contains { $0 is Signature } ? [] : ["the seal has no effect: no Signature is among the filters"]
///     }
/// }
/// ```
///
/// ``NetworkAgent/explain(_:options:)`` shows the problems, and debug builds write each to standard error, once. A type
/// that conforms to two such protocols must implement the function itself.
public protocol FilterDependentRequest: Request {
    /// Returns a sentence without a full stop for each missing filter.
    ///
    /// - Parameter filters: The request's filters, with groups replaced by their members.
    func problems(with filters: [any Filter]) -> [String]
}

/// A filter that consists of several filters. Each runs in its own stage, at the group's place in the array.
///
/// ```swift
/// struct Courtesy: FilterGroup {
///     let filters: [any Filter]
///     init(_ first: any Filter, _ second: any Filter) { filters = [first, second] }
/// }
/// ```
///
/// The group's own `filter`, stages and traits aren't used.
public protocol FilterGroup: Filter {
    /// The members, in their order within a stage. Can contain groups.
    var filters: [any Filter] { get }
}

extension FilterGroup {
    /// Passes the exchange on unchanged. Core runs the group's members and doesn't call this method.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

extension [any Filter] {
    /// Limits the depth, because a group can contain itself.
    func ungrouped(depth: Int = 16) -> [any Filter] {
        guard depth > 0, contains(where: { $0 is any FilterGroup }) else { return self }
        return flatMap { ($0 as? any FilterGroup)?.filters.ungrouped(depth: depth - 1) ?? [$0] }
    }
}

/// A request that provides the filters it needs.
///
/// Refine it for a plugin's request protocol, so the plugin's filter is always installed:
///
/// ```swift
/// public protocol SignedRequest: FilterProvidingRequest { var key: SecretKey { get } }
///
/// extension SignedRequest {
///     public var requiredFilters: [any Filter] { [Signature(key)] }
/// }
/// ```
///
/// The filters run after the agent's filters of the same stage and before the request's own. Core omits a filter with
/// the trait ``FilterTraits/unique`` if the agent has a filter of the same type. A type that conforms to two such
/// protocols must declare its filters itself.
public protocol FilterProvidingRequest: Request {
    /// The filters to install for this request.
    var requiredFilters: [any Filter] { get }
}

/// A tag value that provides the filters it needs. For example, a mode that forbids sending can provide a filter that
/// throws if no plugin has handled the mode:
///
/// ```swift
/// extension OfflineMode: FilterProvidingTag {
///     public var requiredFilters: [any Filter] { [OfflineGuard()] }
/// }
/// ```
///
/// Unlike ``CallOptions/filters``, these filters reach each member of a batch and each step of a chain, because the
/// members inherit the call's tags.
public protocol FilterProvidingTag: Sendable {
    /// The filters to install for calls with this tag. They run after all other filters of the same stage.
    var requiredFilters: [any Filter] { get }
}

/// The stages of the request pipeline in which filters can run.
///
/// ```
/// call filters → redirects → hop filters → wire filters → transport
/// ```
public struct FilterStages: OptionSet, Sendable, Hashable {
    /// The stages as bits.
    public let rawValue: Int
    /// Creates stages from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The stage that runs once per call, before redirects. Use it for URL filters, timed caches, retries and login
    /// gates.
    public static let call = FilterStages(rawValue: 1)
    /// The stage that runs once for each request on the wire, including each redirect and retry. Use it for cookies,
    /// credentials and HTTP caches.
    ///
    /// A filter that runs in both the call and the hop stage finds the current stage in ``Exchange/stage``.
    public static let hop = FilterStages(rawValue: 2)
    /// The stage that runs once for each request that reaches the transport. Wire filters run after all hop filters,
    /// regardless of the order in the array. Use this stage for host limits, circuit breakers and test faults.
    public static let wire = FilterStages(rawValue: 4)
}

/// Properties that restrict the order of filters.
///
/// ```swift
/// struct Language: Filter {
///     var traits: FilterTraits { .changesRequest }
///
///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
///         var exchange = exchange
///         exchange.http.headers["Accept-Language"] = "de"
///         return try await next(exchange)
///     }
/// }
/// ```
public struct FilterTraits: OptionSet, Sendable, Hashable {
    /// The traits as bits.
    public let rawValue: Int
    /// Creates traits from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The filter changes the URL, the headers or the body.
    public static let changesRequest = FilterTraits(rawValue: 1)
    /// The filter signs the request in the form in which it receives it, so later filters must not change the request.
    public static let signs = FilterTraits(rawValue: 2)
    /// The filter can respond from a store, and derives the store's key from the request that it receives.
    public static let caches = FilterTraits(rawValue: 4)
    /// The filter can call `next` again after a failure.
    public static let retries = FilterTraits(rawValue: 8)
    /// The filter adds credentials to the request.
    public static let authenticates = FilterTraits(rawValue: 16)
    /// The filter changes only parts that don't identify the resource, such as a token in the query. It sets
    /// ``ResourceURL`` to the URL without these parts, so requests that differ only in them can share a cached
    /// response. Refines ``changesRequest``.
    public static let outsideCacheKey = FilterTraits(rawValue: 32)
    /// The filter stores responses separately for each user, so later filters can add credentials. Use it along with
    /// ``caches``.
    public static let separatesUsers = FilterTraits(rawValue: 64)
    /// The filter can give several requests the same response. It compares the requests that it receives, without
    /// changes by later filters.
    public static let shares = FilterTraits(rawValue: 128)
    /// The filter can answer a whole call from a store whose key doesn't include changes by redirects and hop filters.
    /// Use it along with ``caches``.
    public static let cachesCalls = FilterTraits(rawValue: 256)
    /// The filter adds cookies. They identify users, but an HTTP cache that runs earlier doesn't see them.
    public static let addsCookies = FilterTraits(rawValue: 512)
    /// The filter can repeat a request on the wire without the call filters, for example with a new credential.
    public static let repeatsHops = FilterTraits(rawValue: 1024)
    /// The filter runs at most once per call. Of several filters of the same type, only the outermost runs.
    ///
    /// If the agent, the request or the call lists such a filter, the listed filter keeps its options and its place,
    /// and replaces a filter from a ``FilterProvidingRequest`` or ``FilterProvidingTag``.
    public static let unique = FilterTraits(rawValue: 2048)
}

/// A filter made of a closure. See ``Filter/closure(_:body:)``.
public struct ClosureFilter: Filter {
    /// The stages in which the filter runs.
    public let stages: FilterStages
    private let body: @Sendable (Exchange, Next) async throws -> HTTPResponse

    /// Creates a filter from a closure. Runs in the stage `.call` by default.
    public init(_ stages: FilterStages = .call, body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse)
    {
        self.stages = stages
        self.body = body
    }

    /// Runs the closure.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await body(exchange, next) }
}

extension Filter where Self == ClosureFilter {
    /// Creates a filter from a closure: `filters: [.closure { exchange, next in try await next(exchange) }]`.
    public static func closure(
        _ stages: FilterStages = .call, body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse
    ) -> ClosureFilter { ClosureFilter(stages, body: body) }
}
