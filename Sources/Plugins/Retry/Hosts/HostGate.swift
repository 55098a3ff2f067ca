public import Errand
import ErrandEssentials
import Synchronization

/// Limits the requests to each host: at once, by rate, and as the host itself asks.
///
/// ```swift
/// let limits = HostLimits(maximumConcurrent: 8, rate: RequestRate(100, per: .seconds(60)))
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.hostGate(limits)])
/// ```
///
/// It stands before the transport: each attempt and each redirect passes it, a response from a cache does not. Requests wait in
/// the order of their coming; one that would wait beyond its deadline throws ``ResilienceError`` at once. A `Retry-After`
/// with the status 403, 429 or 500 to 599 (RFC 9110, section 10.2.3) makes every request to the host wait, a `RateLimit` field
/// with nothing left as well. A host is a name with a port.
public struct HostGate: Filter {
    /// For each host.
    public let limits: HostLimits
    private let lines: HostTable<HostLine>

    /// Makes a gate; agents that share it share its limits.
    public init(_ limits: HostLimits = HostLimits()) {
        self.limits = limits
        lines = HostTable(isIdle: { $0.isIdle }, make: { HostLine($0, limits) })
    }

    /// ``FilterStages/wire``
    public var stages: FilterStages { .wire }

    /// What it limits, in numbers.
    public var explanation: String {
        var parts = ["lets a host rest that asks for it"]
        if let most = limits.maximumConcurrent { parts.append("at most \(most) at once") }
        if let rate = limits.rate { parts.append("\(rate.count) in \(rate.period)") }
        return "host gate: " + parts.joined(separator: ", ")
    }

    /// A timeout, a breaker or faults around it are in the wrong place.
    public func orderProblem(after outer: any Filter) -> String? {
        switch outer {
        case is AttemptTimeout: "the wait at the gate counts as a part of the attempt"
        case is Breaker: "the probe of the breaker waits at the gate"
        case is FaultInjection: "what is injected is not seen by the gate"
        default: nil
        }
    }

    /// Waits for its turn, sends, and takes in what the response says of the host's limits.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let line = lines.value(for: exchange.http.url)
        try await line.enter(exchange)
        do {
            var response = try await next(exchange)
            line.learn(from: response, exchange.time)
            if limits.maximumConcurrent != nil, response.body.data == nil {
                response.body = HTTPBody(length: response.body.length, source: GatedBody(response.body, line))
            } else {
                line.leave()
            }
            return response
        } catch {
            // A response whose body broke off asks for a rest all the same.
            if let response = (error as? ErrandError)?.response { line.learn(from: response, exchange.time) }
            line.leave()
            throw error
        }
    }
}

extension Filter where Self == HostGate {
    /// `filters: [.hostGate(HostLimits(maximumConcurrent: 8))]`
    public static func hostGate(_ limits: HostLimits) -> HostGate { HostGate(limits) }
}

/// A body that counts as a running request until it ends.
private final class GatedBody: HTTPBodySource {
    private let body: HTTPBody
    // Proof: HTTPBody admits one reader, which requests one chunk after the other.
    private nonisolated(unsafe) var iterator: HTTPBody.Iterator
    private let line: HostLine
    private let hasLeft = Atomic(false)

    init(_ body: HTTPBody, _ line: HostLine) {
        (self.body, self.line) = (body, line)
        iterator = body.makeAsyncIterator()
    }

    deinit { leave() }

    func nextChunk() async throws -> Data? {
        do {
            let chunk = try await iterator.next()
            if chunk == nil { leave() }
            return chunk
        } catch {
            leave()
            throw error
        }
    }

    func cancel() {
        body.cancel()
        leave()
    }

    private func leave() {
        if !hasLeft.exchange(true, ordering: .acquiringAndReleasing) { line.leave() }
    }
}
