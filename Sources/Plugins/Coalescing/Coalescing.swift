public import Errand

/// Lets equal requests that run at the same time share one exchange.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: url, transport: .system, filters: [.cache(.memory()), .coalescing])
/// ```
///
/// Requests are equal if they have the same safe method, URL, header fields, credentials and body, and the same agent
/// would send them in the same way; see ``CoalescingRule`` for what else is compared. A request joins an exchange that
/// has no response yet. It keeps its own activity, progress, deadline and cancellation; the exchange outlives the
/// request that began it, and is cancelled when its last request has gone. A response is delivered to all requests,
/// each of which decodes and judges it for itself; so is a failure. A second request of one activity, such as that of a
/// hedge, begins an exchange of its own, which later requests join.
///
/// Bodies that are delivered as a stream or into a file are not shared, and neither are requests whose body is a stream
/// or a file. After a request that is not safe, such as a POST, has ended, no request joins an exchange with that host
/// that was running before: it reads what was written.
///
/// Agents may share a filter; requests of different agents are never equal.
public struct Coalescing: Filter {
    /// The stage of the filter: hop by default.
    public let stages: FilterStages
    /// The rule for equal requests, unless a request or a call has one of its own.
    public let rule: CoalescingRule
    private let table = SharedRuns()

    /// Makes a filter.
    ///
    /// - Parameters:
    ///   - rule: the rule for equal requests; ``CoalescingRule/standard`` by default.
    ///   - stage: `.hop`, the default, compares each request on the wire, after signatures, credentials and timed
    ///     caches; `.call` stands before redirects, where requests also share what follows, such as a timed cache or a
    ///     retry.
    public init(_ rule: CoalescingRule = .standard, in stage: FilterStages = .hop) {
        self.rule = rule
        stages = stage.contains(.call) ? .call : .hop
    }

    /// ``Errand/FilterTraits/shares``
    public var traits: FilterTraits { .shares }
    /// `equal requests under way share one exchange`
    public var explanation: String { "equal requests under way share one exchange" }

    /// A second such filter further in finds nothing to share.
    public func orderProblem(after outer: any Filter) -> String? {
        (outer as? Coalescing)?.stages == stages ? "requests are compared twice" : nil
    }

    /// Sends the exchange, or waits for an equal one. Throws its error, and `CancellationError`.
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
        /// The request is sent by itself.
        case passes(isSafe: Bool)
        /// Its exchange is over: nothing has waited.
        case responds(HTTPResponse)
        case waits(SharedRun, ticket: Int)
    }

    // Not async: what is decided here needs no room in a frame.
    @inline(never) private func step(of exchange: Exchange, _ next: Next) throws -> Step {
        let request = exchange.http
        guard request.method.isSafe else { return .passes(isSafe: false) }
        guard let way = SharedWay(exchange, request, next, rule) else { return .passes(isSafe: true) }
        try Task.checkCancellation()
        let own = SharedRun(exchange, way)
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

extension Filter where Self == Coalescing {
    /// `filters: [.cache(store), .coalescing]`
    public static var coalescing: Coalescing { Coalescing() }

    /// `filters: [.coalescing(.standard.ignoring("X-Trace")), .cache(store)]`
    public static func coalescing(
        _ rule: CoalescingRule = .standard, in stage: FilterStages = .hop
    ) -> Coalescing { Coalescing(rule, in: stage) }
}
