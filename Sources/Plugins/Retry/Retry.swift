// Start here: `.retry` alone, or all of the module in one line by `.standardResilience`.
//
// Retry.swift  the filter that repeats
// Policy/      which requests are repeated, how often, and within which budget
// Hosts/       the limits of each host, and the rests that it asks for
// Breaker/     the breaker, and the timeout of one attempt
// Hedge/       a second request when the first one is slow
// Faults/      failures for tests of an app
// Support/     a request in its own task

public import Errand
import ErrandEssentials
import ErrandHTTPFields

/// Sends a request again if that is safe and may help.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry])
/// ```
///
/// ``RetryPolicy`` decides which requests are repeated. `.retry` also installs a ``HostGate``, which pauses a host that
/// sent `Retry-After` for all calls; this filter by itself doesn't. Each repetition is an attempt of the same activity,
/// so accessories see all of them.
///
/// If several filters repeat, such as a retry and a download, only the innermost filter that can repeat a request does
/// so. A streamed body belongs to its reader: a failure after the head isn't repeated.
public struct Retry: Filter {
    /// The policy for requests that don't have their own.
    public let policy: RetryPolicy
    /// Whether a request or a tag requires the filter. A retry that the agent or the call names replaces it.
    private let isRequired: Bool
    private let ledgers = HostTable<RetryLedger> { _, _ in RetryLedger() }

    /// Creates a filter that only repeats; `.retry` adds a ``HostGate``. Agents that share it share its budgets.
    public init(_ policy: RetryPolicy = .standard) { self.init(policy, isRequired: false) }

    init(_ policy: RetryPolicy, isRequired: Bool) { (self.policy, self.isRequired) = (policy, isRequired) }

    /// ``FilterTraits/retries``
    public var traits: FilterTraits { isRequired ? [.retries, .unique] : .retries }

    /// The maximum number of attempts.
    public var explanation: String {
        policy.maximumAttempts > 1 ? "retries, at most \(policy.maximumAttempts) attempts" : "retries nothing"
    }

    /// A hedge or another retry around it is misplaced.
    public func orderProblem(after outer: any Filter) -> String? {
        switch outer {
        case is Hedge: "each of the two requests would be repeated on its own, and the loser's retry is cut off"
        case is Retry: "the attempts of both are multiplied; one of them is enough"
        default: nil
        }
    }

    /// Sends the request until it succeeds, or until the policy ends the attempts. Throws the last failure.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let policy = policy(for: exchange)
        if policy.maximumAttempts <= 1 { return try await next(exchange) }
        let exchange = policy.addsIdempotencyKey ? withIdempotencyKey(exchange) : exchange
        let deliveries = exchange.possibleDeliveries
        var attempt = 1
        while true {
            // Attempt.
            let (finalFailures, stagedWork) = (exchange.finalFailures, exchange.stagedWorkCount)
            let result: Result<HTTPResponse, any Error>
            do { result = .success(try await next(exchange)) } catch { result = .failure(error) }

            // Judgement.
            guard let failure = await RetryFailure(result, exchange, policy) else {
                let response = try result.get()
                succeeded(response, exchange, policy, isFirst: attempt == 1)
                return response
            }
            if attempt == 1 { failed(exchange, policy) }
            // An inner filter that repeats has done all that is possible.
            if exchange.finalFailures != finalFailures { return try result.get() }
            let isUnsent = failure.reachedNoServer && exchange.possibleDeliveries == deliveries
            guard Self.isSafe(exchange.http, isUnsent: isUnsent, policy) else { return try result.get() }

            // Wait.
            guard let wait = wait(after: failure, attempt, exchange, policy) else {
                exchange.declareFailureFinal()
                return try result.get()
            }
            if case .success(let response) = result { await exchange.discard(response) }
            await exchange.discardStagedWork(after: stagedWork)
            do {
                try await exchange.time.sleep(until: exchange.time.now.advanced(by: wait))
                try Task.checkCancellation()
            } catch {
                if policy.budget != nil { ledgers.record(for: exchange.http, at: exchange.time.now).refund() }
                throw error
            }
            attempt += 1
        }
    }
}

extension Filter where Self == StandardResilience {
    /// ``Retry``, and a ``HostGate`` that lets a host rest that sent `Retry-After`: `filters: [.retry]`
    public static var retry: StandardResilience { .retry(.standard) }

    /// ``Retry`` with a policy, and a ``HostGate`` that lets a host rest that sent `Retry-After`:
    /// `filters: [.retry(RetryPolicy(maximumAttempts: 5))]`
    public static func retry(_ policy: RetryPolicy) -> StandardResilience {
        .standardResilience {
            ($0.retry, $0.limits) = (policy, HostLimits(maximumPause: policy.maximumRetryAfter))
            ($0.breaker, $0.attemptTimeout) = (nil, nil)
        }
    }
}

/// The details of the note named "retry" that a retry reports to accessories.
public struct RetryNote: Sendable {
    /// The number of the next attempt, from 2.
    public let attempt: Int
    /// The wait before it.
    public let wait: Duration
    /// Whether the server requested the wait.
    public let isAskedFor: Bool
    /// The reason why the last attempt failed, in words without a header value or a body.
    public let reason: String
}

// MARK: - Rules

extension Retry {
    /// Returns the policy of the call, the request or the filter, in this order.
    private func policy(for exchange: Exchange) -> RetryPolicy {
        if let tagged = exchange.tags[RetryPolicy.self] { return tagged }
        // The type alone first: a cast that fails is slow.
        guard type(of: exchange.request) is any RetryableRequest.Type else { return policy }
        return (exchange.request as? any RetryableRequest)?.retryPolicy ?? policy
    }

    /// Adds a string in the sense of structured fields (RFC 9651, section 3.3.3), so with quotation marks.
    private func withIdempotencyKey(_ exchange: Exchange) -> Exchange {
        let request = exchange.http
        guard !request.method.isIdempotent, !request.headers.contains(.idempotencyKey) else { return exchange }
        var exchange = exchange
        exchange.http.headers.set(.idempotencyKey, "\"\(UUID().uuidString.lowercased())\"")
        return exchange
    }

    /// Whether the request may be sent twice, and can.
    ///
    /// - Parameter isUnsent: whether no server has received a request of the call. After a redirect, only the last
    ///   request has failed.
    private static func isSafe(_ request: HTTPRequest, isUnsent: Bool, _ policy: RetryPolicy) -> Bool {
        guard request.body.isReplayable else { return false }
        if let isRepeatable = policy.isRepeatable { return isRepeatable }
        return request.method.isIdempotent || isUnsent || request.headers.contains(.idempotencyKey)
    }

    /// Returns the wait before the next attempt; nil if the policy, the deadline or the budget allows no attempt.
    private func wait(
        after failure: RetryFailure, _ attempt: Int, _ exchange: Exchange, _ policy: RetryPolicy
    ) -> Duration? {
        guard attempt < policy.maximumAttempts else { return nil }
        let time = exchange.time
        let asked = failure.response?.headers.retryAfter(from: time.date, upTo: policy.maximumRetryAfter)
        let wait = asked ?? policy.backoff.delay(afterFailures: attempt)
        let now = time.now
        if let deadline = exchange.deadline, now.advanced(by: wait) >= deadline {
            exchange.note("retry", "none: the deadline passes before the wait of \(duration: wait) is over")
            return nil
        }
        if let budget = policy.budget, !spend(budget, exchange, policy, at: now) {
            exchange.note("retry", "none: the budget of the host is used up")
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

extension Retry {
    private func succeeded(_ response: HTTPResponse, _ exchange: Exchange, _ policy: RetryPolicy, isFirst: Bool) {
        // A response from a cache is no call to the host.
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
        _ budget: RetryBudget, _ exchange: Exchange, _ policy: RetryPolicy, at now: ContinuousClock.Instant
    ) -> Bool {
        ledgers.use(exchange.http, at: now) { $0.spend(budget, maximumAttempts: policy.maximumAttempts, at: now) }
    }
}

// MARK: - Failures

/// The failure of an attempt that another one may avoid.
private struct RetryFailure {
    let reason: String
    /// The response that failed, or that the error carries.
    let response: HTTPResponse?
    /// Whether no server can have received the failed request. Earlier ones of the call may have been received.
    let reachedNoServer: Bool

    /// Fails if the policy doesn't count the result as a failure.
    init?(_ result: Result<HTTPResponse, any Error>, _ exchange: Exchange, _ policy: RetryPolicy) async {
        switch result {
        case .success(let response): await self.init(response, exchange, policy)
        case .failure(let error): self.init(error, policy)
        }
    }

    private init?(_ response: HTTPResponse, _ exchange: Exchange, _ policy: RetryPolicy) async {
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
