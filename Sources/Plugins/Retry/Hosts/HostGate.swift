public import Errand
import ErrandEssentials
import Synchronization

/// Limits the requests to each host: concurrent ones, by rate, and by the limits of the host itself.
///
/// ```swift
/// let limits = HostLimits(maximumConcurrent: 8, rate: RequestRate(100, per: .seconds(60)))
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.hostGate(limits)])
/// ```
///
/// It stands before the transport: each attempt and each redirect passes it, a response from a cache does not. Requests
/// wait in the order of their arrival; one that would wait beyond its deadline throws ``ResilienceError`` at once. A
/// `Retry-After` with the status 403, 429 or 500 to 599 (RFC 9110, section 10.2.3) makes every request to the host
/// wait, and so does a `RateLimit` field with nothing left; after such a rest one request goes first, and each response
/// lets two more follow, or as many as its `RateLimit` field allows. A request that has waited in the transport is
/// checked again before it is sent. A host is a name with a port.
public struct HostGate: Filter {
    private let shared: Shared
    private var lines: HostTable<HostLine> { shared.lines }

    /// One reference: a filter is copied into the frame of each request.
    private final class Shared: Sendable {
        let limits: HostLimits
        let lines: HostTable<HostLine>

        init(_ limits: HostLimits) {
            self.limits = limits
            lines = HostTable { HostLine($0, limits, at: $1) }
        }
    }

    /// The limits of each host.
    public var limits: HostLimits { shared.limits }

    /// Makes a gate; agents that share it share its limits.
    public init(_ limits: HostLimits = HostLimits()) { shared = Shared(limits) }

    /// ``FilterStages/wire``
    public var stages: FilterStages { .wire }

    /// The limits, in numbers.
    public var explanation: String {
        var parts = ["lets a host rest that asks for it"]
        if let most = limits.maximumConcurrent { parts.append("at most \(most) at once") }
        if let rate = limits.rate { parts.append("\(rate.count) in \(duration: rate.period)") }
        return "host gate: " + parts.joined(separator: ", ")
    }

    /// A timeout, a breaker or fault injection around it is misplaced.
    public func orderProblem(after outer: any Filter) -> String? {
        switch outer {
        case is AttemptTimeout: "the wait at the gate counts as a part of the attempt"
        case is Breaker: "the probe of the breaker waits at the gate"
        case is FaultInjection: "what is injected is not seen by the gate"
        default: nil
        }
    }

    /// Waits for its turn, sends the request, and adopts the host's limits from the response.
    @inline(__always) public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let now = exchange.time.now
        let (line, entry) = try begin(exchange.http, at: now)
        guard case .now(let ticket) = entry else {
            return try await send(exchange, next, line, entry, since: now)
        }
        let response: HTTPResponse
        do { response = try await next(exchange) } catch {
            return try await send(exchange, next, line, ticket, since: now, after: error)
        }
        return adopt(response, line, ticket, exchange.time)
    }

    /// A request that its transport did not send, or whose error is final. Apart, like all that waits.
    @inline(never) private func send(
        _ exchange: Exchange, _ next: Next, _ line: HostLine, _ ticket: HostLine.Ticket,
        since start: ContinuousClock.Instant, after error: any Error
    ) async throws -> HTTPResponse {
        let (line, entry) = try place(after: error, line, ticket, exchange)
        return try await send(exchange, next, line, entry, since: start)
    }

    /// The line of a host, and its turn or its place in that.
    private func begin(_ request: HTTPRequest, at now: ContinuousClock.Instant) throws -> (HostLine, HostLine.Entry) {
        try lines.use(request, at: now) { line in try line.begin(at: now).map { (line, $0) } }
    }

    /// The requests that wait, or are held back: apart, so that those that are sent at once need no space for it.
    @inline(never) private func send(
        _ exchange: Exchange, _ next: Next, _ line: HostLine, _ entry: HostLine.Entry,
        since start: ContinuousClock.Instant
    ) async throws -> HTTPResponse {
        var (line, entry) = (line, entry)
        while true {
            let ticket =
                switch entry {
                case .now(let ticket): ticket
                case .waits(let waiter): try await line.wait(waiter, exchange, since: start)
                }
            do {
                return adopt(try await next(exchange), line, ticket, exchange.time)
            } catch { (line, entry) = try place(after: error, line, ticket, exchange) }
        }
    }

    /// The next place of a request that the gate has held back in the transport, because its host requested a rest while it
    /// waited there; throws any other error.
    @inline(never) private func place(
        after error: any Error, _ line: HostLine, _ ticket: HostLine.Ticket, _ exchange: Exchange
    ) throws -> (HostLine, HostLine.Entry) {
        guard let refusal = error as? HeldBack, refusal.gate === lines else {
            // A response whose body was cut off also requests a rest.
            line.receive(ticket, (error as? any RequestFailure)?.response, exchange.time, isOver: true)
            throw error
        }
        if refusal.line === line { return (line, .waits(line.takeBack(ticket))) }
        // A filter further in sends it to another host than that of its line.
        line.receive(ticket, nil, exchange.time, isOver: true)
        return try begin(refusal.request, at: exchange.time.now)
    }

    /// Takes the limits of the host from a response; one that streams counts as running until its body ends.
    @inline(never) private func adopt(
        _ response: HTTPResponse, _ line: HostLine, _ ticket: HostLine.Ticket, _ time: any TimeSource
    ) -> HTTPResponse {
        let isStream = limits.maximumConcurrent != nil && response.body.data == nil
        line.receive(ticket, response, time, isOver: !isStream)
        if !isStream { return response }
        var response = response
        response.body = HTTPBody(length: response.body.length, source: GatedBody(response.body, line))
        return response
    }
}

extension HostGate: DepartureFilter {
    /// Holds back a request that has waited in the transport while its host requested a rest: it waits for its turn
    /// again. A body that can be read once has been opened by now, and could not be sent later.
    public func willDepart(_ request: HTTPRequest, time: any TimeSource) throws {
        guard request.body.isReplayable else { return }
        let now = time.now
        let line = lines.record(for: request, at: now)
        if !line.isOpen(at: now) { throw HeldBack(gate: lines, line: line, request: request) }
    }
}

/// The error of a request in the transport that its gate holds back.
private struct HeldBack: Error {
    let gate: HostTable<HostLine>
    let line: HostLine
    let request: HTTPRequest
}

extension Filter where Self == HostGate {
    /// `filters: [.hostGate(HostLimits(maximumConcurrent: 8))]`
    public static func hostGate(_ limits: HostLimits) -> HostGate { HostGate(limits) }
}

/// A body that counts as a running request until it ends.
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
