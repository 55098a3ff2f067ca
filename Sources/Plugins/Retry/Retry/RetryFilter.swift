import Errand
import ErrandEssentials

/// Repeats a call: attempt, judgement, wait.
struct RetryFilter: Filter {
    private let policy: RetryPolicy
    /// Whether it came with the request or the call: it then leaves the work to one that the agent has.
    private let isBrought: Bool
    private let ledgers = HostTable<RetryLedger>(isIdle: { _ in true }, make: { _ in RetryLedger() })

    init(_ policy: RetryPolicy, isBrought: Bool = false) {
        (self.policy, self.isBrought) = (policy, isBrought)
    }

    var traits: FilterTraits { .retries }

    var explanation: String {
        policy.maximumAttempts > 1 ? "retries, at most \(policy.maximumAttempts) attempts" : "retries nothing"
    }

    func orderProblem(after outer: any Filter) -> String? {
        outer is Hedge ? "each of the two requests would be repeated on its own, and the loser's retry is cut off" : nil
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        guard let policy = policy(for: &exchange), policy.maximumAttempts > 1 else { return try await next(exchange) }
        if policy.addsIdempotencyKey { Self.addKey(to: &exchange.http) }
        let ledger = ledgers.value(for: exchange.http.url)
        let deliveries = exchange.possibleDeliveries
        var number = 1
        while true {
            let finalFailures = exchange.finalFailures
            let result: Result<HTTPResponse, any Error>
            let failure: RetryFailure
            do {
                let response = try await next(exchange)
                guard let found = await RetryFailure(response, exchange, policy) else {
                    // What a cache responds to is no call to the host.
                    if let budget = policy.budget, !response.source.isStored {
                        ledger.succeeded(budget, isFirst: number == 1)
                    }
                    return response
                }
                (result, failure) = (.success(response), found)
            } catch {
                guard let found = RetryFailure(error, policy) else { throw error }
                (result, failure) = (.failure(error), found)
            }
            if number == 1, let budget = policy.budget { ledger.failed(budget, at: exchange.time.now) }
            // An inner filter that repeats has done what can be done.
            if exchange.finalFailures != finalFailures { return try result.get() }
            let isUnsent = failure.reachedNoServer && exchange.possibleDeliveries == deliveries
            guard Self.isSafe(exchange.http, isUnsent: isUnsent, policy) else { return try result.get() }
            guard let wait = wait(after: failure, number, exchange, policy, ledger) else {
                exchange.declareFailureFinal()
                return try result.get()
            }
            number += 1
            if case .success(let response) = result { response.body.cancel() }
            do {
                try await exchange.time.sleep(until: exchange.time.now.advanced(by: wait))
                try Task.checkCancellation()
            } catch {
                ledger.refund()
                throw error
            }
        }
    }

    /// The policy of the call, the request or the agent, in this order; nil if a filter further out does the work.
    private func policy(for exchange: inout Exchange) -> RetryPolicy? {
        let own = exchange.tags[RetryPolicyTag.self] ?? (exchange.request as? any RetryableRequest)?.retryPolicy
        guard let own else { return policy }
        if exchange.tags[RetryOwner.self] == exchange.activity.id { return isBrought ? nil : own }
        exchange.tags[RetryOwner.self] = exchange.activity.id
        return own
    }

    /// How long to wait before the next attempt; nil if there is none.
    private func wait(
        after failure: RetryFailure, _ number: Int, _ exchange: Exchange, _ policy: RetryPolicy, _ ledger: RetryLedger
    ) -> Duration? {
        guard number < policy.maximumAttempts else { return nil }
        let time = exchange.time
        let asked = failure.askedWait(at: time.date, limit: policy.maximumRetryAfter)
        let wait = asked ?? policy.backoff.wait(afterAttempt: number)
        if let deadline = exchange.deadline, time.now.advanced(by: wait) >= deadline {
            exchange.note("retry", "none: the deadline passes before the wait of \(wait) is over")
            return nil
        }
        if let budget = policy.budget, !ledger.spend(budget, maximumAttempts: policy.maximumAttempts) {
            exchange.note("retry", "none: the budget of the host is used up")
            return nil
        }
        let next = number + 1
        exchange.note(
            "retry", "attempt \(next) of \(policy.maximumAttempts) in \(wait): \(failure.reason)",
            details: RetryNote(attempt: next, wait: wait, isAskedFor: asked != nil, reason: failure.reason))
        return wait
    }

    /// Whether the request may be sent twice, and can.
    ///
    /// - Parameter isUnsent: whether no server has received a request of the call: with a redirect the last one alone fails.
    private static func isSafe(_ request: HTTPRequest, isUnsent: Bool, _ policy: RetryPolicy) -> Bool {
        guard request.body.isReplayable else { return false }
        if let isRepeatable = policy.isRepeatable { return isRepeatable }
        return request.method.isIdempotent || isUnsent || request.headers.contains(idempotencyKey)
    }

    private static let idempotencyKey: HTTPHeaderName = "Idempotency-Key"

    /// A string in the sense of structured fields (RFC 9651, section 3.3.3), so with quotation marks.
    private static func addKey(to request: inout HTTPRequest) {
        guard !request.method.isIdempotent, !request.headers.contains(idempotencyKey) else { return }
        request.headers.set(idempotencyKey, "\"\(UUID().uuidString.lowercased())\"")
    }
}

/// The activity whose retry a filter further out does.
private enum RetryOwner: TagKey {
    static var defaultValue: Activity.ID? { nil }
}
