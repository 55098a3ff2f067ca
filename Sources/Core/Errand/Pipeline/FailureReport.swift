import ErrandHTTP

/// Makes the error of a failed request: adds the evidence, and applies the mappings.
struct FailureReport {
    let described: any Request
    let settings: PipelineSettings
    let activity: Activity
    /// As far as it had come.
    let response: HTTPResponse?

    /// The error with its evidence, passed through the agent's mapping and then the request's. The rest of a body is
    /// cancelled.
    func complete(_ error: any Error) async -> any Error {
        var error = error
        if var known = error as? ErrandError {
            known.activity = known.activity ?? activity.id
            known.request = known.request ?? activity.ledger.lastSent
            // Who wants data expects the body of an error to be there, as that of a success is.
            let allowance = BodyAllowance(
                bytes: settings.maximumErrorBodyBytes, timeout: described.timeout ?? settings.timeout,
                time: activity.time, longest: described.delivery == .data ? .seconds(5) : .seconds(1))
            known.response = await (known.response ?? response)?.bounded(by: allowance)
            error = known
        }
        return error.isCancellation || error.isExpectedEnd ? error : described.mapError(settings.mapError(error))
    }
}
