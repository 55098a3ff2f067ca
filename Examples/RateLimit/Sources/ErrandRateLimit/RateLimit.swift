public import Errand
import ErrandEssentials
import Synchronization

/// Limits the rate of requests to each host, and slows down further if the host asks for it.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system,
///     filters: [.rateLimit(100, per: .seconds(60), burst: 20)])
/// ```
///
/// Each host and port has a token bucket, which holds up to `burst` tokens and is refilled at the rate. Each request
/// takes a token; if the bucket is empty, requests wait in order. Every attempt and redirect takes a token, but a
/// response from a cache doesn't. The response fields `RateLimit` and `RateLimit-Policy`
/// (draft-ietf-httpapi-ratelimit-headers-10) slow the bucket down: see ``RateLimitFields``. If the wait would exceed
/// the request's deadline, it throws ``RateLimitError`` at once.
public struct RateLimit: Filter {
    /// The number of requests per ``period``.
    public let count: Int
    /// The time for ``count`` requests.
    public let period: Duration
    /// The number of requests that can pass at once after a quiet time.
    public let burst: Int
    /// The longest pause that a host may ask for.
    public let maximumRest: Duration
    private let buckets: Buckets

    /// Creates a limit. Agents that share it share its buckets.
    ///
    /// - Parameters:
    ///   - count: the number of requests per period; at least 1.
    ///   - period: from a millisecond to a day.
    ///   - burst: the number of requests that can pass at once after a quiet time. Defaults to `count`.
    ///   - maximumRest: the longest pause that a host may ask for. Defaults to 5 minutes.
    public init(
        _ count: Int, per period: Duration, burst: Int? = nil, maximumRest: Duration = .seconds(300)
    ) {
        self.count = min(max(1, count), 1_000_000)
        self.period = min(max(.milliseconds(1), period), .seconds(86_400))
        self.burst = min(max(1, burst ?? count), 1_000_000)
        self.maximumRest = min(max(.zero, maximumRest), .seconds(86_400))
        buckets = Buckets(capacity: self.burst, interval: self.period / self.count)
    }

    /// Runs at ``FilterStages/wire``, after every cache.
    public var stages: FilterStages { .wire }

    /// The rate, in words.
    public var explanation: String { "lets \(count) requests to a host pass in \(period), \(burst) at once" }

    /// Waits for a token, sends the request, and reads the host's limits from the response.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let host = Self.host(of: exchange.http.url)
        try await wait(for: host, exchange)
        let response = try await next(exchange)
        if let fields = RateLimitFields(response.headers) {
            buckets.update(host, at: exchange.time.now) { bucket, now in
                bucket.learn(fields, at: now, maximumRest: maximumRest)
            }
        }
        return response
    }

    private func wait(for host: String, _ exchange: Exchange) async throws {
        while true {
            let now = exchange.time.now
            let ready = buckets.update(host, at: now) { $0.take(at: $1) }
            guard ready > now else { return }
            if let deadline = exchange.deadline, ready > deadline {
                buckets.update(host, at: now) { bucket, _ in bucket.giveBack() }
                throw RateLimitError(host: host, wait: ready - now)
            }
            exchange.note("rate limit", "waits \(ready - now) for \(host)")
            do { try await exchange.time.sleep(until: ready) } catch {
                // The wait was cancelled. Give the token back, so later requests move up.
                buckets.update(host, at: exchange.time.now) { bucket, _ in bucket.giveBack() }
                throw error
            }
            // If the host has asked for a pause in the meantime, queue again.
            let isResting = buckets.update(host, at: exchange.time.now) { bucket, now in
                guard bucket.isResting(at: now) else { return false }
                bucket.giveBack()
                return true
            }
            if !isResting { return }
        }
    }

    /// The host's name with its port.
    private static func host(of url: URL) -> String {
        let port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        return "\(url.host()?.lowercased() ?? ""):\(port)"
    }
}

extension Filter where Self == RateLimit {
    /// `filters: [.rateLimit(10, per: .seconds(1))]`
    public static func rateLimit(_ count: Int, per period: Duration, burst: Int? = nil) -> RateLimit {
        RateLimit(count, per: period, burst: burst)
    }
}

/// The wait for the rate limit would exceed the request's deadline. The request wasn't sent.
public struct RateLimitError: DescribedError {
    /// The host with its port.
    public let host: String
    /// The wait that the request would have needed.
    public let wait: Duration
    /// One line for developers.
    public var description: String { "the limit of \(host) lets the request pass in \(wait), after its deadline" }
    /// A sentence for users.
    public var failureSentence: FailureSentence { .busy }
    /// Always 1, because there is only one kind.
    public var errorCode: Int { 1 }
}
