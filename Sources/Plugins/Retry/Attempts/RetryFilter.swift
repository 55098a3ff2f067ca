import Errand
import ErrandEssentials

/// Repeats a call: attempt, judgement, wait.
struct RetryFilter: Filter {
    private let policy: RetryPolicy
    /// Whether a request or a tag requires it, so that one that is named replaces it.
    private let isRequired: Bool
    private let ledgers = HostTable<RetryLedger> { _, _ in RetryLedger() }

    init(_ policy: RetryPolicy, isRequired: Bool = false) {
        (self.policy, self.isRequired) = (policy, isRequired)
    }

    var traits: FilterTraits { isRequired ? [.retries, .unique] : .retries }

    var explanation: String {
        policy.maximumAttempts > 1 ? "retries, at most \(policy.maximumAttempts) attempts" : "retries nothing"
    }

    func orderProblem(after outer: any Filter) -> String? {
        switch outer {
        case is Hedge: "each of the two requests would be repeated on its own, and the loser's retry is cut off"
        case is RetryFilter: "the attempts of both are multiplied; one of them is enough"
        default: nil
        }
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let policy = policy(for: exchange)
        guard policy.maximumAttempts > 1 else { return try await next(exchange) }
        var exchange = exchange
        if policy.addsIdempotencyKey { Self.addKey(to: &exchange.http) }
        let deliveries = exchange.possibleDeliveries
        var number = 1
        while true {
            let (finalFailures, stagedWork) = (exchange.finalFailures, exchange.stagedWorkCount)
            let result: Result<HTTPResponse, any Error>
            let failure: RetryFailure
            do {
                let response = try await next(exchange)
                guard RetryFailure.mayBe(response, policy),
                    let found = await RetryFailure(response, exchange, policy)
                else {
                    succeeded(response, exchange, policy, isFirst: number == 1)
                    return response
                }
                (result, failure) = (.success(response), found)
            } catch {
                guard let found = RetryFailure(error, policy) else { throw error }
                (result, failure) = (.failure(error), found)
            }
            if number == 1, let budget = policy.budget {
                let now = exchange.time.now
                ledgers.use(exchange.http, at: now) { $0.failed(budget, at: now) }
            }
            // An inner filter that repeats has done all that is possible.
            if exchange.finalFailures != finalFailures { return try result.get() }
            let isUnsent = failure.reachedNoServer && exchange.possibleDeliveries == deliveries
            guard Self.isSafe(exchange.http, isUnsent: isUnsent, policy) else { return try result.get() }
            guard let wait = wait(after: failure, number, exchange, policy) else {
                exchange.declareFailureFinal()
                return try result.get()
            }
            number += 1
            if case .success(let response) = result { response.body.cancel() }
            await exchange.discardStagedWork(after: stagedWork)
            do {
                try await exchange.time.sleep(until: exchange.time.now.advanced(by: wait))
                try Task.checkCancellation()
            } catch {
                ledgers.record(for: exchange.http, at: exchange.time.now).refund()
                throw error
            }
        }
    }

    /// The policy of the call, the request or the filter, in this order.
    private func policy(for exchange: Exchange) -> RetryPolicy {
        if let tagged = exchange.tags[RetryPolicy.self] { return tagged }
        // The type alone first: a cast that fails is slow.
        guard type(of: exchange.request) is any RetryableRequest.Type else { return policy }
        return (exchange.request as? any RetryableRequest)?.retryPolicy ?? policy
    }

    /// Not in line: what it needs would lie in the frame of each call.
    @inline(never) private func succeeded(
        _ response: HTTPResponse, _ exchange: Exchange, _ policy: RetryPolicy, isFirst: Bool
    ) {
        // A response from a cache is no call to the host.
        guard let budget = policy.budget, !response.source.isStored else { return }
        let now = exchange.time.now
        ledgers.use(exchange.http, at: now) { $0.succeeded(budget, isFirst: isFirst, at: now) }
    }

    /// The wait before the next attempt; nil if there is none.
    private func wait(
        after failure: RetryFailure, _ number: Int, _ exchange: Exchange, _ policy: RetryPolicy
    ) -> Duration? {
        guard number < policy.maximumAttempts else { return nil }
        let time = exchange.time
        let asked = failure.response?.headers.retryAfter(from: time.date, upTo: policy.maximumRetryAfter)
        let wait = asked ?? policy.backoff.delay(afterFailures: number)
        let now = time.now
        if let deadline = exchange.deadline, now.advanced(by: wait) >= deadline {
            exchange.note("retry", "none: the deadline passes before the wait of \(duration: wait) is over")
            return nil
        }
        if let budget = policy.budget,
            !ledgers.use(
                exchange.http, at: now,
                { record in
                    record.spend(budget, maximumAttempts: policy.maximumAttempts, at: now)
                })
        {
            exchange.note("retry", "none: the budget of the host is used up")
            return nil
        }
        let next = number + 1
        exchange.note(
            "retry", "attempt \(next) of \(policy.maximumAttempts) in \(duration: wait): \(failure.reason)",
            details: RetryNote(attempt: next, wait: wait, isAskedFor: asked != nil, reason: failure.reason))
        return wait
    }

    /// Whether the request may be sent twice, and can.
    ///
    /// - Parameter isUnsent: whether no server has received a request of the call: with a redirect the last one alone fails.
    private static func isSafe(_ request: HTTPRequest, isUnsent: Bool, _ policy: RetryPolicy) -> Bool {
        guard request.body.isReplayable else { return false }
        if let isRepeatable = policy.isRepeatable { return isRepeatable }
        return request.method.isIdempotent || isUnsent || request.headers.contains(.idempotencyKey)
    }

    /// A string in the sense of structured fields (RFC 9651, section 3.3.3), so with quotation marks.
    private static func addKey(to request: inout HTTPRequest) {
        guard !request.method.isIdempotent, !request.headers.contains(.idempotencyKey) else { return }
        request.headers.set(.idempotencyKey, "\"\(UUID().uuidString.lowercased())\"")
    }
}
