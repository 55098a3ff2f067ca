public import Errand

/// Sends one request for several equal requests that run at the same time.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: url, transport: .system, filters: [.cache(.memory()), .coalescing])
/// ```
///
/// Requests are equal if they have the same safe method, URL, header fields, credentials and body, and would be sent in
/// the same way by the same agent. ``CoalescingPolicy`` lists further conditions. A request joins an exchange that hasn't
/// received its response yet.
///
/// Each request keeps its own activity, progress, deadline and cancellation, and decodes and validates the shared
/// response itself. Failures are shared, too. If the request that started the exchange is cancelled, the exchange
/// continues until all its requests are cancelled. If one activity sends a second request, for example as a hedge, that
/// starts a new exchange, which later requests join.
///
/// Streamed and file responses aren't shared, nor are requests whose body is a stream or a file. When a request with an
/// unsafe method, such as a POST, ends, later requests to its host don't join exchanges that were already running, so
/// they read the new state.
///
/// Agents can share a filter, but never share each other's exchanges.
public struct CoalescingFilter: Filter {
    /// The stage in which requests are compared: `.hop` or `.call`.
    public let stages: FilterStages
    /// The rule that decides which requests are equal, unless the request or call has another rule.
    public let rule: CoalescingPolicy
    private let table = SharedRuns()

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - rule: The rule for equal requests. Defaults to ``CoalescingPolicy/standard``.
    ///   - stage: `.hop` compares each request on the wire, after signatures, credentials and timed caches. `.call`
    ///     compares before redirects, so requests also share later call filters, such as a timed cache or a retry.
    ///     Defaults to `.hop`.
    public init(_ rule: CoalescingPolicy = .standard, in stage: FilterStages = .hop) {
        self.rule = rule
        stages = stage.contains(.call) ? .call : .hop
    }

    /// The filter's only trait is ``Errand/FilterTraits/shares``.
    public var traits: FilterTraits { .shares }
    /// The filter's line in the agent's `explain`, "equal requests in progress share one exchange".
    public var explanation: String { "equal requests in progress share one exchange" }

    /// Reports a problem if an outer coalescing filter has the same stage.
    public func orderProblem(after outer: any Filter) -> String? {
        (outer as? CoalescingFilter)?.stages == stages
            ? "both filters coalesce the same requests; use only one of them" : nil
    }

    /// Sends the exchange, or waits for the response to an equal one that is running. Throws that exchange's error, or
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
        /// Sends the request without sharing.
        case passes(isSafe: Bool)
        /// The exchange finished without waiting.
        case responds(HTTPResponse)
        case waits(SharedRun, ticket: Int)
    }

    // Not async, because this needs no room in an async frame.
    @inline(never) private func step(of exchange: Exchange, _ next: Next) throws -> Step {
        let request = exchange.http
        guard request.method.isSafe else { return .passes(isSafe: false) }
        guard let conditions = SharingConditions(exchange, request, next, rule) else { return .passes(isSafe: true) }
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
    /// Creates a filter that sends one request for several equal ones: `filters: [.cache(store), .coalescing]`.
    public static var coalescing: CoalescingFilter { CoalescingFilter() }

    /// Creates a filter that sends one request for several that a rule considers equal: `filters:
    /// [.coalescing(.standard.ignoring("X-Trace")), .cache(store)]`.
    public static func coalescing(
        _ rule: CoalescingPolicy = .standard, in stage: FilterStages = .hop
    ) -> CoalescingFilter { CoalescingFilter(rule, in: stage) }
}
