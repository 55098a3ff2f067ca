public import Errand

/// Sends a single request in place of several equal requests that run at the same time.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: url, transport: .system, filters: [.cache(.memory()), .coalescing])
/// ```
///
/// Requests are equal if the same agent sends them, and if they have the same safe method, URL, header fields,
/// credentials and body. ``CoalescingPolicy`` lists further conditions. If an equal request is already running and its
/// response hasn't arrived yet, a new request waits for that response instead of being sent.
///
/// Each request keeps its own activity, progress, deadline and cancellation, and decodes and validates the shared
/// response itself. Failures are shared, too. The request that was sent is cancelled only when all requests that share
/// it are cancelled. A second request of the same activity, such as a hedge's, is always sent.
///
/// Requests with a stream or a file as their body aren't shared, and neither are streamed and file responses. After a
/// request with a method that isn't safe, such as POST, later requests don't share requests to its host that are
/// already running. Otherwise, the later requests could get the state from before the change.
///
/// Different agents don't share requests, even if they use the same filter.
public struct CoalescingFilter: Filter {
    /// The stage in which the filter compares requests: `.hop` or `.call`. See ``init(_:in:)``.
    public let stages: FilterStages
    /// The filter's rule. A rule of the request or call takes precedence.
    public let rule: CoalescingPolicy
    private let table = SharedRuns()

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - rule: decides which requests are equal. Defaults to ``CoalescingPolicy/standard``.
    ///   - stage: `.hop`, the default, compares each request on the wire, after filters have added signatures and
    ///     credentials, and after timed caches. `.call` compares calls before they are sent or redirected, so equal
    ///     calls also share the work of later call filters, such as a timed cache or a retry.
    public init(_ rule: CoalescingPolicy = .standard, in stage: FilterStages = .hop) {
        self.rule = rule
        stages = stage.contains(.call) ? .call : .hop
    }

    /// Returns ``Errand/FilterTraits/shares``.
    public var traits: FilterTraits { .shares }
    /// The filter's line in the agent's `explain`.
    public var explanation: String { "equal requests in progress share one exchange" }

    /// Reports a problem if an outer coalescing filter has the same stage.
    public func orderProblem(after outer: any Filter) -> String? {
        (outer as? CoalescingFilter)?.stages == stages
            ? "both filters coalesce the same requests; use only one of them" : nil
    }

    /// Sends the request, or waits for the response to an equal running request. Throws that request's error, or
    /// `CancellationError`.
    @inline(__always) public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        switch try step(of: exchange, next) {
        case .passes(let isSafe):
            defer { if !isSafe { table.close(exchange.http.url) } }
            return try await next(exchange)
        case .responds(let response): return response
        case .waits(let run, let ticket):
            let response = try await run.response(for: ticket, of: table)
            if ticket != SharedRun.firstTicket { run.reportProgress(to: exchange) }
            return response
        }
    }

    private enum Step {
        case passes(isSafe: Bool)
        case responds(HTTPResponse)
        case waits(SharedRun, ticket: Int)
    }

    // Not async, so its variables need no room in an async frame.
    @inline(never) private func step(of exchange: Exchange, _ next: Next) throws -> Step {
        let request = exchange.http
        guard request.method.isSafe else { return .passes(isSafe: false) }
        guard let conditions = SharingConditions(exchange, request: request, next: next, filterRule: rule) else {
            return .passes(isSafe: true)
        }
        try Task.checkCancellation()
        let own = SharedRun(exchange, conditions)
        switch table.join(own) {
        case .leads:
            own.send(next, of: table)
            return try own.outcome.map { .responds(try $0.get()) } ?? .waits(own, ticket: SharedRun.firstTicket)
        case .joins(let run, let ticket):
            exchange.note("coalescing", "shares the exchange of \(run.leader)", details: run.leader)
            return .waits(run, ticket: ticket)
        case .alone: return .passes(isSafe: true)
        }
    }
}

extension Filter where Self == CoalescingFilter {
    /// Coalesces equal requests by ``CoalescingPolicy/standard``: `filters: [.cache(store), .coalescing]`.
    public static var coalescing: CoalescingFilter { CoalescingFilter() }

    /// Coalesces requests that are equal by a rule: `filters: [.coalescing(.standard.ignoring("X-Trace")),
    /// .cache(store)]`.
    public static func coalescing(
        _ rule: CoalescingPolicy = .standard, in stage: FilterStages = .hop
    ) -> CoalescingFilter { CoalescingFilter(rule, in: stage) }
}
