public import Errand
import ErrandEssentials
import Synchronization

/// Limits the requests to each host: how many run at once, how many start per period, and how many the host itself
/// allows.
///
/// ```swift
/// let limits = HostLimits(maximumConcurrent: 8, rate: RequestRate(100, per: .seconds(60)))
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.hostLimit(limits)])
/// ```
///
/// The filter runs right before the transport, so it limits attempts and redirects, but not responses from a cache.
/// Requests wait in order of arrival. If a request's turn would come after its deadline, the request throws
/// ``ResilienceError`` immediately.
///
/// All requests to a host pause if a response has the status 403, 429 or 500 to 599 and a `Retry-After` (RFC 9110,
/// section 10.2.3), or if its `RateLimit` field allows no more requests. After a pause, a single request is sent first.
/// Each response then admits two more requests, or as many as its `RateLimit` field allows. If a request waited in the
/// transport, the filter checks it again right before it's sent. Each port of a host has its own limits.
public struct HostLimitFilter: Filter {
    /// The limits that apply to each host.
    public let limits: HostLimits
    private let lines: HostTable<HostLine>

    /// Creates a filter. Agents that use the same filter share its limits.
    public init(_ limits: HostLimits = HostLimits()) {
        self.limits = limits
        lines = HostTable { HostLine($0, limits, at: $1) }
    }

    /// Runs in the stage ``FilterStages/wire``.
    public var stages: FilterStages { .wire }

    /// The filter's line in the agent's `explain`.
    public var explanation: String {
        var parts = ["pauses a host that sent Retry-After"]
        if let most = limits.maximumConcurrent { parts.append("at most \(most) requests at once") }
        if let rate = limits.rate { parts.append("at most \(rate.count) requests in \(duration: rate.period)") }
        return "host limit: " + parts.joined(separator: ", ")
    }

    /// Reports a problem if an attempt timeout, a breaker or fault injection is an outer filter.
    public func orderProblem(after outer: any Filter) -> String? {
        switch outer {
        case is AttemptTimeoutFilter: "waiting at the host limit counts toward the attempt's timeout"
        case is BreakerFilter: "the breaker's probe waits at the host limit"
        case is FaultInjectionFilter: "the host limit doesn't see injected faults"
        default: nil
        }
    }

    /// Waits until the host's limits allow the request, sends it, and reads new limits from the response.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let start = exchange.time.now
        var (line, entry) = try begin(exchange.http, at: start)
        while true {
            let ticket =
                switch entry {
                case .now(let ticket): ticket
                case .waits(let waiter): try await line.wait(waiter, exchange, since: start)
                }
            do { return adopt(try await next(exchange), in: line, ticket: ticket, time: exchange.time) } catch {
                (line, entry) = try place(after: error, in: line, ticket: ticket, exchange: exchange)
            }
        }
    }

    private func begin(_ request: HTTPRequest, at now: ContinuousClock.Instant) throws -> (HostLine, HostLine.Entry) {
        try lines.use(request, at: now) { line in try line.begin(at: now).map { (line, $0) } }
    }

    /// Queues a request again if ``willSend(_:time:)`` rejected it. Rethrows other errors.
    private func place(
        after error: any Error, in line: HostLine, ticket: HostLine.Ticket, exchange: Exchange
    ) throws -> (HostLine, HostLine.Entry) {
        guard let refusal = error as? HeldBack, refusal.lines === lines else {
            // Even a response whose body was cut off can pause the host.
            line.receive(ticket, response: (error as? any RequestFailure)?.response, time: exchange.time, isOver: true)
            throw error
        }
        if refusal.line === line { return (line, .waits(line.takeBack(ticket))) }
        // A later filter sent the request to another host, so it waits in that host's queue.
        line.receive(ticket, response: nil, time: exchange.time, isOver: true)
        return try begin(refusal.request, at: exchange.time.now)
    }

    /// A streamed response counts as running until its body ends.
    private func adopt(
        _ response: HTTPResponse, in line: HostLine, ticket: HostLine.Ticket, time: any TimeSource
    ) -> HTTPResponse {
        let isStream = limits.maximumConcurrent != nil && response.body.data == nil
        line.receive(ticket, response: response, time: time, isOver: !isStream)
        if !isStream { return response }
        var response = response
        response.body = HTTPBody(length: response.body.length, source: GatedBody(response.body, line))
        return response
    }
}

extension HostLimitFilter: PreSendFilter {
    /// Throws if the host asked for a pause while the request waited in the transport. The filter then queues the
    /// request again. A request whose body can be read only once is sent anyway, because the transport has already
    /// opened the body.
    public func willSend(_ request: HTTPRequest, time: any TimeSource) throws {
        guard request.body.isReplayable else { return }
        let now = time.now
        let line = lines.record(for: request, at: now)
        if !line.isOpen(at: now) { throw HeldBack(lines: lines, line: line, request: request) }
    }
}

private struct HeldBack: Error {
    let lines: HostTable<HostLine>
    let line: HostLine
    let request: HTTPRequest
}

extension Filter where Self == HostLimitFilter {
    /// Creates a filter with limits: `filters: [.hostLimit(HostLimits(maximumConcurrent: 8))]`.
    public static func hostLimit(_ limits: HostLimits) -> HostLimitFilter { HostLimitFilter(limits) }
}

private final class GatedBody: HTTPBodySource {
    private let chunks: BodyChunks
    private let line: HostLine
    private let hasLeft = Atomic(false)

    init(_ body: HTTPBody, _ line: HostLine) {
        (chunks, self.line) = (BodyChunks(body), line)
    }

    deinit { leave() }

    func nextChunk() async throws -> Data? {
        do {
            let chunk = try await chunks.next()
            if chunk == nil { leave() }
            return chunk
        } catch {
            leave()
            throw error
        }
    }

    func cancel() {
        chunks.cancel()
        leave()
    }

    private func leave() {
        if !hasLeft.exchange(true, ordering: .acquiringAndReleasing) { line.leave() }
    }
}
