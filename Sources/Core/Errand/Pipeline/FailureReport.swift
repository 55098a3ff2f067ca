import ErrandHTTP

/// Completes the error of a failed request: attaches the request and response, and maps it.
struct FailureReport {
    let described: any Request
    let settings: PipelineSettings
    let activity: Activity
    /// The response, as far as it was received.
    let response: HTTPResponse?

    /// Returns the completed error, mapped by the agent and then the request. Cancels the rest of a body.
    func complete(_ error: any Error) async -> any Error {
        var error = error
        if var known = error as? ErrandError {
            known.activity = known.activity ?? activity.id
            known.request = known.request ?? activity.ledger.lastSent
            // If the request wants data, users expect an error's body too, so wait longer for it.
            let allowance = BodyAllowance(
                bytes: settings.maximumErrorBodyBytes, timeout: described.timeout ?? settings.timeout,
                time: activity.time, longest: described.delivery == .data ? .seconds(5) : .seconds(1))
            known.response = await (known.response ?? response)?.bounded(by: allowance)
            error = known
        }
        return error.isCancellation || error.isExpectedEnd ? error : described.mapError(settings.mapError(error))
    }
}
