// Start here: `.retry` alone, or the whole module with `.standardResilience`.
//
// Retry.swift  the filter that sends requests again
// Policy/      which requests are retried, how often, and within which budget
// Hosts/       the limits of each host and the pauses that it requests
// Breaker/     the breaker, and the timeout of an attempt
// Hedge/       a second request if the first is slow
// Faults/      failures for tests of an app
// Support/     a request in its own task

public import Errand
@_exported public import ErrandBackoff
import ErrandEssentials
import ErrandHTTPFields
import ErrandSupport

/// Retries failed requests if sending them again is safe and may help.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry])
/// ```
///
/// ``RetryPolicy`` decides which requests are retried. Accessories see each retry as an attempt of the same activity.
/// `.retry` also installs a ``HostLimitFilter``, which pauses all calls to a host that sent `Retry-After`.
///
/// If several filters can repeat a request, for example a retry and a download, only the innermost of them does so. A
/// streamed response isn't retried after its head has arrived, because your code may already have read a part of the
/// body.
public struct RetryFilter: Filter {
    /// The policy for requests that don't have their own.
    public let policy: RetryPolicy
    /// Required by a request or tag. An explicit retry filter of the agent or call replaces it.
    private let isRequired: Bool
    private let ledgers = HostTable<RetryLedger> { _, _ in RetryLedger() }
    /// Remembers the type of the last request, so its conformance isn't checked again.
    private let plain = PlainType()

    /// Creates a filter without the ``HostLimitFilter`` that `.retry` adds. Agents that share the filter share its
    /// budgets.
    public init(_ policy: RetryPolicy = .standard) { self.init(policy, isRequired: false) }

    init(_ policy: RetryPolicy, isRequired: Bool) { (self.policy, self.isRequired) = (policy, isRequired) }

    /// The trait ``FilterTraits/retries``. If a request or tag installed the filter, also ``FilterTraits/unique``.
    public var traits: FilterTraits { isRequired ? [.retries, .unique] : .retries }

    /// The filter's line in the agent's `explain`.
    public var explanation: String {
        policy.maximumAttempts > 1 ? "retries, at most \(policy.maximumAttempts) attempts" : "doesn't retry"
    }

    /// Reports a problem if a hedge filter or another retry filter is an outer filter.
    public func orderProblem(after outer: any Filter) -> String? {
        switch outer {
        case is HedgeFilter:
            "each of the two hedged requests would be retried separately"
        case is RetryFilter: "both filters retry, and the outer one only what the inner one doesn't; use only one"
        default: nil
        }
    }

    /// Sends the request until it succeeds or the policy allows no more attempts. Throws the last failure.
    @inline(__always) public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let policy = policy(for: exchange)
        if policy.maximumAttempts <= 1 { return try await next(exchange) }
        let exchange = policy.addsIdempotencyKey ? withIdempotencyKey(exchange) : exchange
        let start = Counts(exchange)
        let result: Result<HTTPResponse, any Error>
        do { result = .success(try await next(exchange)) } catch { result = .failure(error) }
        if let response = accepted(result, of: exchange, policy: policy, isFirst: true) { return response }
        return try await retry(exchange, to: next, policy: policy, after: result, since: start)
    }

    /// This is a separate function, because its variables would enlarge the async frame of every request. In a single
    /// function, the filter would need a fifth more instructions and allocate a frame of 1,400 bytes.
    private func retry(
        _ exchange: Exchange, to next: Next, policy: RetryPolicy, after first: Result<HTTPResponse, any Error>,
        since start: Counts
    ) async throws -> HTTPResponse {
        var (attempt, result, counts) = (1, first, start)
        while true {
            guard let failure = await RetryFailure(result, of: exchange, policy: policy) else {
                let response = try result.get()
                succeeded(response, of: exchange, policy: policy, isFirst: attempt == 1)
                return response
            }
            if attempt == 1 { failed(exchange, policy) }
            // A later filter has already repeated the request as often as it may.
            if exchange.finalFailureCount != counts.finalFailures { return try result.get() }
            let isUnsent = failure.reachedNoServer && exchange.possiblyReceivedCount == start.deliveries
            guard Self.isSafe(exchange.http, isUnsent: isUnsent, policy) else { return try result.get() }

            guard let wait = wait(after: failure, attempt: attempt, exchange: exchange, policy: policy) else {
                exchange.markFailureAsFinal()
                return try result.get()
            }
            if case .success(let response) = result { await exchange.discard(response) }
            await exchange.discardStagedWork(after: counts.stagedWork)
            do {
                try await exchange.time.sleep(until: exchange.time.now.advanced(by: wait))
                try Task.checkCancellation()
            } catch {
                if policy.budget != nil { ledgers.record(for: exchange.http, at: exchange.time.now).refund() }
                throw error
            }
            attempt += 1
            counts = Counts(exchange)
            do { result = .success(try await next(exchange)) } catch { result = .failure(error) }
            if let response = accepted(result, of: exchange, policy: policy, isFirst: false) { return response }
        }
    }

    @inline(never) private func accepted(
        _ result: Result<HTTPResponse, any Error>, of exchange: Exchange, policy: RetryPolicy, isFirst: Bool
    ) -> HTTPResponse? {
        guard case .success(let response) = result, policy.repeatsError == nil,
            !policy.statuses.contains(response.status)
        else { return nil }
        succeeded(response, of: exchange, policy: policy, isFirst: isFirst)
        return response
    }
}

private struct Counts {
    let finalFailures, stagedWork, deliveries: Int

    init(_ exchange: Exchange) {
        (finalFailures, stagedWork) = (exchange.finalFailureCount, exchange.stagedWorkCount)
        deliveries = exchange.possiblyReceivedCount
    }
}

extension Filter where Self == StandardResilience {
    /// Creates a ``RetryFilter``, and a ``HostLimitFilter`` for hosts that send `Retry-After`: `filters: [.retry]`.
    public static var retry: StandardResilience { .retry(.standard) }

    /// Creates a ``RetryFilter`` with a custom policy, and a ``HostLimitFilter``:
    /// `filters: [.retry(RetryPolicy(maximumAttempts: 5))]`.
    public static func retry(_ policy: RetryPolicy) -> StandardResilience {
        .standardResilience {
            ($0.retry, $0.limits) = (policy, HostLimits(maximumPause: policy.maximumRetryAfter))
            ($0.breaker, $0.attemptTimeout) = (nil, nil)
        }
    }
}

/// The details of the note "retry", which accessories receive before another attempt.
public struct RetryNote: Sendable {
    /// The number of the next attempt, starting at 2.
    public let attempt: Int
    /// How long the filter waits before the next attempt.
    public let wait: Duration
    /// Whether the server requested the wait with `Retry-After`.
    public let isAskedFor: Bool
    /// Why the last attempt failed, without header values or bodies.
    public let reason: String
}

// MARK: - Rules

extension RetryFilter {
    private func policy(for exchange: Exchange) -> RetryPolicy {
        if let tagged = exchange.tags[RetryPolicy.self] { return tagged }
        let type = type(of: exchange.request)
        if plain.excludes(type, unless: { type is any RetryableRequest.Type }) { return policy }
        return (exchange.request as? any RetryableRequest)?.retryPolicy ?? policy
    }

    /// The key is a structured-field string, in quotation marks (RFC 9651, section 3.3.3).
    private func withIdempotencyKey(_ exchange: Exchange) -> Exchange {
        let request = exchange.http
        guard !request.method.isIdempotent, !request.headers.contains(.idempotencyKey) else { return exchange }
        var exchange = exchange
        exchange.http.headers.set(.idempotencyKey, "\"\(UUID().uuidString.lowercased())\"")
        return exchange
    }

    /// - Parameter isUnsent: Whether no server has received any request of the call, including requests before a
    ///   redirect.
    private static func isSafe(_ request: HTTPRequest, isUnsent: Bool, _ policy: RetryPolicy) -> Bool {
        guard request.body.isReplayable else { return false }
        if let isRepeatable = policy.isRepeatable { return isRepeatable }
        return request.method.isIdempotent || isUnsent || request.headers.contains(.idempotencyKey)
    }

    private func wait(
        after failure: RetryFailure, attempt: Int, exchange: Exchange, policy: RetryPolicy
    ) -> Duration? {
        guard attempt < policy.maximumAttempts else { return nil }
        let time = exchange.time
        let asked = failure.response?.headers.retryAfter(from: time.date, upTo: policy.maximumRetryAfter)
        let wait = asked ?? policy.backoff.delay(afterFailures: attempt)
        let now = time.now
        if let deadline = exchange.deadline, now.advanced(by: wait) >= deadline {
            exchange.note("retry", "skipped: the deadline passes before the wait of \(duration: wait) ends")
            return nil
        }
        if let budget = policy.budget, !spend(budget, for: exchange, policy: policy, at: now) {
            exchange.note("retry", "skipped: the host's budget is used up")
            return nil
        }
        let next = attempt + 1
        exchange.note(
            "retry", "attempt \(next) of \(policy.maximumAttempts) in \(duration: wait): \(failure.reason)",
            details: RetryNote(attempt: next, wait: wait, isAskedFor: asked != nil, reason: failure.reason))
        return wait
    }
}

// MARK: - The budget of the host

extension RetryFilter {
    private func succeeded(_ response: HTTPResponse, of exchange: Exchange, policy: RetryPolicy, isFirst: Bool) {
        // A cached response isn't a call to the host.
        guard let budget = policy.budget, !response.source.isStored else { return }
        let now = exchange.time.now
        ledgers.use(exchange.http, at: now) { $0.succeeded(budget, isFirst: isFirst, at: now) }
    }

    private func failed(_ exchange: Exchange, _ policy: RetryPolicy) {
        guard let budget = policy.budget else { return }
        let now = exchange.time.now
        ledgers.use(exchange.http, at: now) { $0.failed(budget, at: now) }
    }

    private func spend(
        _ budget: RetryBudget, for exchange: Exchange, policy: RetryPolicy, at now: ContinuousClock.Instant
    ) -> Bool {
        ledgers.use(exchange.http, at: now) { $0.spend(budget, maximumAttempts: policy.maximumAttempts, at: now) }
    }
}

// MARK: - Failures

private struct RetryFailure {
    let reason: String
    let response: HTTPResponse?
    /// Whether the last request didn't reach any server. A server may still have received earlier requests of the call.
    let reachedNoServer: Bool

    init?(_ result: Result<HTTPResponse, any Error>, of exchange: Exchange, policy: RetryPolicy) async {
        switch result {
        case .success(let response): await self.init(response, of: exchange, policy: policy)
        case .failure(let error): self.init(error, policy)
        }
    }

    private init?(_ response: HTTPResponse, of exchange: Exchange, policy: RetryPolicy) async {
        if policy.statuses.contains(response.status), !exchange.request.acceptableStatuses.contains(response.status) {
            self.init(ReasonPhrase.describing(response.status), response)
            return
        }
        guard let repeatsError = policy.repeatsError else { return nil }
        do {
            try await exchange.judge(response)
            return nil
        } catch  where !error.isCancellation && repeatsError(error) {
            self.init("\(type(of: error))", response)
        } catch {
            return nil
        }
    }

    private init?(_ error: any Error, _ policy: RetryPolicy) {
        if error.isCancellation || Task.isCancelled { return nil }
        let known = error as? ErrandError
        if let known, policy.errors.contains(known.code) {
            self.init(known.code.description, known.response, reachedNoServer: known.reachedNoServer)
        } else if let known, known.code == .unacceptableStatus, let response = known.response,
            policy.statuses.contains(response.status)
        {
            self.init(ReasonPhrase.describing(response.status), response)
        } else if policy.repeatsError?(error) == true {
            self.init(known?.code.description ?? "\(type(of: error))", known?.response)
        } else {
            return nil
        }
    }

    private init(_ reason: String, _ response: HTTPResponse?, reachedNoServer: Bool = false) {
        (self.reason, self.response, self.reachedNoServer) = (reason, response, reachedNoServer)
    }
}
