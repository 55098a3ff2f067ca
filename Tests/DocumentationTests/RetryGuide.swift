// The code of docs/retry.md.
import Errand
import ErrandRetry
import ErrandSystemTransport
import Testing

private let url = "https://api.example.com"

private func oneLine() {
    let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.standardResilience])
    _ = agent
}

private func retry() {
    var policy = RetryPolicy(maximumAttempts: 5)
    policy.backoff = Backoff(base: .milliseconds(200), maximumDelay: .seconds(10))
    policy.maximumRetryAfter = .seconds(30)
    let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry(policy)])
    _ = agent

    policy.repeatsError = { ($0 as? ErrandError)?.code == .checkFailed }
}

private enum Orders {
    struct PlaceOrder: RetryableRequest {
        var method: HTTPMethod { .post }
        var path: String { "orders" }
        var retryPolicy: RetryPolicy { .standard.withIdempotencyKey }
    }
}

extension Orders {
    static func calls(_ agent: NetworkAgent) async throws {
        try await agent.send(PlaceOrder(), options: .retry(.off))
    }
}

private func gate() {
    let limits = HostLimits(maximumConcurrent: 8, rate: RequestRate(100, per: .seconds(60)))
    let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry, .hostLimit(limits)])
    _ = agent
}

private func breaker() {
    let agent = NetworkAgent(
        baseURL: url, transport: .system, filters: [.retry, .breaker(BreakerPolicy(failureShare: 0.2))])
    _ = agent
}

private func hedging() {
    let hedge = HedgeFilter(HedgePolicy(share: 0.05))
    let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.standardResilience, hedge])
    _ = agent
}

private func faulty() {
    let shaky = NetworkAgent(
        baseURL: url, transport: .system,
        filters: [
            .standardResilience,
            .faultInjection(seed: 7, failing: 0.1, with: [.status(503), .stall], slow: 0.05, by: .seconds(2)),
        ])
    _ = shaky
}

private func settings() {
    let agent = NetworkAgent(
        baseURL: url, transport: .system,
        filters: [
            .standardResilience {
                $0.retry.maximumAttempts = 5
                $0.limits.maximumConcurrent = 16
                $0.attemptTimeout = .seconds(10)
            }
        ])
    _ = agent
}
