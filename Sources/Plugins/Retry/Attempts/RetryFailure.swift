import Errand
import ErrandEssentials
import ErrandHTTPFields

/// The failure of an attempt that another one may avoid.
struct RetryFailure {
    let reason: String
    /// The response that failed, or that the error carries.
    let response: HTTPResponse?
    /// Whether no server can have received the failed request; earlier ones of the call may have been received.
    let reachedNoServer: Bool

    /// Whether the policy may count a response as a failure; false for most, without a wait.
    static func mayBe(_ response: HTTPResponse, _ policy: RetryPolicy) -> Bool {
        policy.repeatsError != nil || policy.statuses.contains(response.status)
    }

    /// Nil for a response that the policy does not count as a failure.
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

    /// Nil for an error that the policy does not count as a failure.
    init?(_ error: any Error, _ policy: RetryPolicy) {
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
