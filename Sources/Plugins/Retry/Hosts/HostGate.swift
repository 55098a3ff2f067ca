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
    /// The limits of each host.
    public let limits: HostLimits
    private let lines: HostTable<HostLine>

    /// Makes a gate; agents that share it share its limits.
    public init(_ limits: HostLimits = HostLimits()) {
        self.limits = limits
        lines = HostTable { HostLine($0, limits) }
    }

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
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let time = exchange.time
        let start = time.now
        var (line, ticket) = try await enter(exchange.http, exchange, since: start, at: start)
        while true {
            do {
                var response = try await next(exchange)
                let isStream = limits.maximumConcurrent != nil && response.body.data == nil
                line.receive(ticket, response, time, isOver: !isStream)
                if isStream {
                    response.body = HTTPBody(length: response.body.length, source: GatedBody(response.body, line))
                }
                return response
            } catch let error as HeldBack where error.gate === lines {
                // The host has requested a rest while the request waited in the transport.
                if error.line === line {
                    ticket = try await line.wait(line.takeBack(ticket), exchange, since: start)
                } else {
                    // A filter further in sends it to another host than that of its line.
                    line.receive(ticket, nil, time, isOver: true)
                    (line, ticket) = try await enter(error.request, exchange, since: start, at: time.now)
                }
            } catch {
                // A response whose body was cut off also requests a rest.
                line.receive(ticket, (error as? any RequestFailure)?.response, time, isOver: true)
                throw error
            }
        }
    }

    /// Waits for a turn in the line of a host.
    private func enter(
        _ request: HTTPRequest, _ exchange: Exchange, since start: ContinuousClock.Instant,
        at now: ContinuousClock.Instant
    ) async throws -> (HostLine, HostLine.Ticket) {
        let (line, entry) = try lines.use(request, at: now) { line in try line.begin(at: now).map { (line, $0) } }
        return switch entry {
        case .now(let ticket): (line, ticket)
        case .waits(let waiter): (line, try await line.wait(waiter, exchange, since: start))
        }
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
