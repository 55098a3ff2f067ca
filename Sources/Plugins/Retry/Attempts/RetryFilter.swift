import Errand
import ErrandEssentials

/// Repeats a call: attempt, judgement, wait.
struct RetryFilter: Filter {
    private let policy: KeptPolicy
    /// Whether a request or a tag requires it, so that one that is named replaces it.
    private let isRequired: Bool
    private let ledgers = HostTable<RetryLedger> { _, _ in RetryLedger() }

    init(_ policy: RetryPolicy, isRequired: Bool = false) {
        (self.policy, self.isRequired) = (KeptPolicy(policy), isRequired)
    }

    var traits: FilterTraits { isRequired ? [.retries, .unique] : .retries }

    var explanation: String {
        let count = policy.policy.maximumAttempts
        return count > 1 ? "retries, at most \(count) attempts" : "retries nothing"
    }

    func orderProblem(after outer: any Filter) -> String? {
        switch outer {
        case is Hedge: "each of the two requests would be repeated on its own, and the loser's retry is cut off"
        case is RetryFilter: "the attempts of both are multiplied; one of them is enough"
        default: nil
        }
    }

    @inline(__always) func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // In line within its witness, so that both cost one async frame.
        let call = RepeatedCall(exchange, kept(for: exchange))
        let first: Result<HTTPResponse, any Error>
        do {
            let response = try await next(call.exchange)
            if isSuccess(response, call) { return response }
            first = .success(response)
        } catch { first = .failure(error) }
        return try await complete(call, first, next)
    }

    /// Whether the first response is the last, without a wait; counts it then.
    @inline(never) private func isSuccess(_ response: HTTPResponse, _ call: RepeatedCall) -> Bool {
        let policy = call.kept.policy
        if policy.maximumAttempts > 1 {
            if RetryFailure.mayBe(response, policy) { return false }
            succeeded(response, call, isFirst: true)
        }
        return true
    }

    /// The attempts after the first one, if it has failed. Most calls are spared its frame.
    private func complete(
        _ call: RepeatedCall, _ first: Result<HTTPResponse, any Error>, _ next: Next
    ) async throws -> HTTPResponse {
        let (exchange, policy) = (call.exchange, call.kept.policy)
        var (result, before, number) = (first, call.before, 1)
        if policy.maximumAttempts <= 1 { return try first.get() }
        while true {
            guard let failure = await failure(result, exchange, policy) else {
                let response = try result.get()
                succeeded(response, call, isFirst: number == 1)
                return response
            }
            if number == 1, let budget = policy.budget {
                let now = exchange.time.now
                ledgers.use(exchange.http, at: now) { $0.failed(budget, at: now) }
            }
            // An inner filter that repeats has done all that is possible.
            if exchange.finalFailures != before.finalFailures { return try result.get() }
            let isUnsent = failure.reachedNoServer && exchange.possibleDeliveries == call.deliveries
            guard Self.isSafe(exchange.http, isUnsent: isUnsent, policy) else { return try result.get() }
            guard let wait = wait(after: failure, number, exchange, policy) else {
                exchange.declareFailureFinal()
                return try result.get()
            }
            number += 1
            if case .success(let response) = result { await exchange.discard(response) }
            await exchange.discardStagedWork(after: before.stagedWork)
            do {
                try await exchange.time.sleep(until: exchange.time.now.advanced(by: wait))
                try Task.checkCancellation()
            } catch {
                if policy.budget != nil { ledgers.record(for: exchange.http, at: exchange.time.now).refund() }
                throw error
            }
            before = RepeatedCall.Counts(exchange)
            do { result = .success(try await next(exchange)) } catch { result = .failure(error) }
        }
    }

    /// Nil for a result that the policy does not count as a failure.
    private func failure(
        _ result: Result<HTTPResponse, any Error>, _ exchange: Exchange, _ policy: RetryPolicy
    ) async -> RetryFailure? {
        switch result {
        case .failure(let error): RetryFailure(error, policy)
        case .success(let response):
            RetryFailure.mayBe(response, policy) ? await RetryFailure(response, exchange, policy) : nil
        }
    }

    /// The policy of the call, the request or the filter, in this order.
    private func kept(for exchange: Exchange) -> KeptPolicy {
        if let tagged = exchange.tags[RetryPolicy.self] { return KeptPolicy(tagged) }
        // The type alone first: a cast that fails is slow.
        guard type(of: exchange.request) is any RetryableRequest.Type else { return policy }
        return (exchange.request as? any RetryableRequest).map { KeptPolicy($0.retryPolicy) } ?? policy
    }

    /// Not in line: what it needs would lie in the frame of each call.
    @inline(never) private func succeeded(_ response: HTTPResponse, _ call: RepeatedCall, isFirst: Bool) {
        // A response from a cache is no call to the host.
        guard let budget = call.kept.policy.budget, !response.source.isStored else { return }
        let now = call.exchange.time.now
        ledgers.use(call.exchange.http, at: now) { $0.succeeded(budget, isFirst: isFirst, at: now) }
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
}

/// A policy as one reference: each call has a copy.
private final class KeptPolicy: Sendable {
    let policy: RetryPolicy

    init(_ policy: RetryPolicy) { self.policy = policy }
}

/// A call that may be repeated, and what was known of it before its first attempt.
private struct RepeatedCall {
    /// The counts before an attempt.
    struct Counts {
        let finalFailures: Int
        let stagedWork: Int

        init(_ exchange: Exchange) { (finalFailures, stagedWork) = (exchange.finalFailures, exchange.stagedWorkCount) }
    }

    let exchange: Exchange
    let kept: KeptPolicy
    let deliveries: Int
    let before: Counts

    init(_ exchange: Exchange, _ kept: KeptPolicy) {
        var exchange = exchange
        if kept.policy.addsIdempotencyKey, kept.policy.maximumAttempts > 1 { Self.addKey(to: &exchange.http) }
        (self.exchange, self.kept, deliveries) = (exchange, kept, exchange.possibleDeliveries)
        before = Counts(exchange)
    }

    /// A string in the sense of structured fields (RFC 9651, section 3.3.3), so with quotation marks.
    private static func addKey(to request: inout HTTPRequest) {
        guard !request.method.isIdempotent, !request.headers.contains(.idempotencyKey) else { return }
        request.headers.set(.idempotencyKey, "\"\(UUID().uuidString.lowercased())\"")
    }
}
