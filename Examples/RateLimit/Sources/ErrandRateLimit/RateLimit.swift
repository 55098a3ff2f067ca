public import Errand
import ErrandEssentials
import Synchronization

/// Lets requests to each host pass at a rate, and slower where the host says so.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [.rateLimit(100, per: .seconds(60), burst: 20)])
/// ```
///
/// A token bucket for each host and port: it holds `burst` tokens and gets new ones at the rate; a request takes one, or
/// waits for it in the order of its coming. Every attempt and every redirect takes one, a response from a cache takes none.
/// The fields `RateLimit` and `RateLimit-Policy` of a response (draft-ietf-httpapi-ratelimit-headers-10) slow the bucket
/// down: see ``RateLimitFields``. A request that would have to wait beyond its deadline throws ``RateLimitError`` at once.
public struct RateLimit: Filter {
    /// How many requests pass in ``period``.
    public let count: Int
    /// The time for ``count`` requests.
    public let period: Duration
    /// How many requests pass without a wait after a rest.
    public let burst: Int
    /// The longest rest that a host may ask for.
    public let maximumRest: Duration
    private let buckets: Buckets

    /// Makes a limit; agents that share it share its buckets.
    ///
    /// - Parameters:
    ///   - count: how many requests pass in a period; 1 at least.
    ///   - period: from a millisecond to a day.
    ///   - burst: how many pass without a wait after a rest; `count` by default.
    ///   - maximumRest: the longest rest that a host may ask for; 5 minutes by default.
    public init(
        _ count: Int, per period: Duration, burst: Int? = nil, maximumRest: Duration = .seconds(300)
    ) {
        self.count = min(max(1, count), 1_000_000)
        self.period = min(max(.milliseconds(1), period), .seconds(86_400))
        self.burst = min(max(1, burst ?? count), 1_000_000)
        self.maximumRest = min(max(.zero, maximumRest), .seconds(86_400))
        buckets = Buckets(capacity: self.burst, interval: self.period / self.count)
    }

    /// ``FilterStages/wire``: behind every cache.
    public var stages: FilterStages { .wire }

    /// The rate, in words.
    public var explanation: String { "lets \(count) requests to a host pass in \(period), \(burst) at once" }

    /// Waits for a token, sends, and reads what the host says of its limits.
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
                // Cancelled: those behind it move up.
                buckets.update(host, at: exchange.time.now) { bucket, _ in bucket.giveBack() }
                throw error
            }
            // The host may have asked for a rest meanwhile: then the place in the queue is a new one.
            let isResting = buckets.update(host, at: exchange.time.now) { bucket, now in
                guard bucket.isResting(at: now) else { return false }
                bucket.giveBack()
                return true
            }
            if !isResting { return }
        }
    }

    /// A name with a port.
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

/// A request that would have to wait for the limit beyond its deadline; it was not sent.
public struct RateLimitError: DescribedError {
    /// The host with its port.
    public let host: String
    /// How long the request would have to wait.
    public let wait: Duration
    /// One line for developers.
    public var description: String { "the limit of \(host) lets the request pass in \(wait), after its deadline" }
    /// The sentence for people.
    public var failureSentence: FailureSentence { .busy }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}
