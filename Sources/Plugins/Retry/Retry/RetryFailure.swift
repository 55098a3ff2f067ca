import Errand
import ErrandEssentials
import ErrandHTTPSyntax

/// How an attempt went wrong in a way that another one may mend.
struct RetryFailure {
    let reason: String
    /// The response that failed, or that the error carries.
    let response: HTTPResponse?
    /// Whether no server can have received the request that failed; others of the call may have been.
    let reachedNoServer: Bool

    /// Nil for a response that is none of the policy's failures.
    init?(_ response: HTTPResponse, _ exchange: Exchange, _ policy: RetryPolicy) async {
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

    /// Nil for an error that is none of the policy's failures.
    init?(_ error: any Error, _ policy: RetryPolicy) {
        if error.isCancellation || Task.isCancelled { return nil }
        let known = error as? ErrandError
        if let known, policy.errors.contains(known.code) {
            let isUnsent = known.code == .cannotConnect || known.code == .nameLookupFailed
            self.init(known.code.description, known.response, reachedNoServer: isUnsent && known.response == nil)
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

    /// What the server asks for, at most `limit`; nil if it asks for nothing.
    func askedWait(at date: Date, limit: Duration) -> Duration? {
        response.flatMap { RetryAfterField.wait(in: $0.headers, at: date, limit: limit) }
    }
}

enum RetryAfterField {
    static let name: HTTPHeaderName = "Retry-After"

    /// The longest wait of all fields that can be read, at most `limit`; nil for none, or for a moment that has passed.
    static func wait(in headers: HTTPHeaders, at date: Date, limit: Duration) -> Duration? {
        let waits = headers.values(of: name).compactMap { RetryAfter(parsing: $0, now: date)?.wait(from: date) }
        guard let wait = waits.max(), wait > .zero else { return nil }
        return min(wait, max(limit, .zero))
    }
}
