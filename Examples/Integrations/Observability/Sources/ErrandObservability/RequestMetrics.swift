public import CoreMetrics
public import Errand
import ErrandCache
import ErrandRetry

/// Counts and measures requests by OpenTelemetry's semantic conventions for HTTP client metrics.
///
/// ```swift
/// let metrics = RequestMetrics()
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [.retry, .breaker, metrics],
///     accessories: [metrics])
/// ```
///
/// As a filter, it measures each request on the wire. Put it last, after gates and breakers.
///
/// | metric | kind | unit |
/// |---|---|---|
/// | `http.client.request.duration` | timer | seconds; see ``durationBounds`` |
/// | `http.client.active_requests` | meter | requests |
/// | `http.client.request.body.size` | recorder | bytes, if the length is known |
/// | `http.client.response.body.size` | recorder | bytes: `Content-Length`, or the length in memory |
///
/// Their dimensions are method, server, port, status, protocol version, error and path template, but never the path
/// itself. As an accessory, it counts the events that plugins report: `errand.client.cache.requests` by result,
/// `errand.client.retries`, `errand.client.breaker.changes` by state, and the timer `errand.client.gate.wait`.
///
/// The number of series is bounded: after `maximumSeries`, new servers and templates count as `_OTHER`.
public final class RequestMetrics: Filter, Accessory {
    /// The bucket bounds that the conventions specify for `http.client.request.duration`. Pass them to your backend's
    /// configuration, because the metrics API can't.
    public static let durationBounds: [Duration] = [
        .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50), .milliseconds(75),
        .milliseconds(100), .milliseconds(250), .milliseconds(500), .milliseconds(750), .seconds(1),
        .milliseconds(2_500), .seconds(5), .milliseconds(7_500), .seconds(10),
    ]

    private let series: MetricSeries
    private let knownMethods: Set<String>

    /// - Parameters:
    ///   - factory: the backend. Defaults to `nil`, which uses the current one of `MetricsSystem`.
    ///   - maximumSeries: the number of combinations of dimensions. Defaults to 1,000.
    ///   - knownMethods: the methods to record by name. Defaults to the methods of RFC 9110 and PATCH. Any other is
    ///     `_OTHER`.
    public init(
        _ factory: (any MetricsFactory)? = nil, maximumSeries: Int = 1_000, knownMethods: Set<String>? = nil
    ) {
        series = MetricSeries(factory ?? MetricsSystem.factory, maximum: maximumSeries)
        self.knownMethods = knownMethods ?? RequestFacts.knownMethods
    }

    /// Runs at ``Errand/FilterStages/wire``.
    public var stages: FilterStages { .wire }

    /// A short description for `agent.explain`.
    public var explanation: String { "metrics of each request" }

    /// Measures the request.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let (facts, start) = (RequestFacts(exchange, knownMethods: knownMethods), exchange.time.now)
        let active = series.active(facts)
        active.increment()
        do {
            let response = try await next(exchange)
            record(facts, RequestEnd(response), exchange, response, since: start)
            active.decrement()
            return response
        } catch {
            record(facts, RequestEnd(error), exchange, nil, since: start)
            active.decrement()
            throw error
        }
    }

    @inline(never) private func record(
        _ facts: RequestFacts, _ end: RequestEnd, _ exchange: Exchange, _ response: HTTPResponse?,
        since start: ContinuousClock.Instant
    ) {
        let set = series.ended(facts, end)
        set.duration.recordNanoseconds(start.duration(to: exchange.time.now).nanoseconds)
        if let length = exchange.http.body.length, length > 0 { set.requestSize.record(length) }
        guard let response else { return }
        let length = response.headers[.contentLength].flatMap { Int64($0) } ?? response.body.length
        if let length { set.responseSize.record(length) }
    }

    /// Counts the events that plugins report in notes.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .note(let note) = event else { return }
        switch note.details {
        case let status as CacheStatus: if let result = Self.result(status) { series.cacheResult(result).increment() }
        case is RetryNote: series.retries.increment()
        case let change as BreakerNote: (change.isOpen ? series.breakerOpened : series.breakerClosed).increment()
        case let turn as HostLimitNote: series.gateWait.recordNanoseconds(turn.wait.nanoseconds)
        default: break
        }
    }

    /// Returns "hit", "hit-stale", "revalidated" if the server confirmed the stored response, or why the request was
    /// forwarded (RFC 9211, section 2.2). Returns nil for anything else.
    private static func result(_ status: CacheStatus) -> String? {
        if status.isHit { return status.timeToLive.map { $0 < 0 } == true ? "hit-stale" : "hit" }
        guard let forward = status.forward else { return nil }
        return status.forwardStatus == 304 ? "revalidated" : forward.description
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole + attoseconds / 1_000_000_000
    }
}
