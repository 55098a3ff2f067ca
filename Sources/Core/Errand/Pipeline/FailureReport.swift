import ErrandHTTP

/// Completes and maps a failed request's error.
struct FailureReport {
    let described: any Request
    let settings: PipelineSettings
    let activity: Activity
    let response: HTTPResponse?

    /// Completes and maps an error. Keeps the beginning of the response's body for the error and cancels the rest.
    func complete(_ error: any Error) async -> any Error {
        var error = error
        if var known = error as? ErrandError {
            known.activity = known.activity ?? activity.id
            known.request = known.request ?? activity.ledger.lastSent
            // If the request wants data, users expect an error's body too, so wait longer.
            let allowance = BodyAllowance(
                bytes: settings.maximumErrorBodyBytes, timeout: described.timeout ?? settings.timeout,
                time: activity.time, longest: described.delivery == .data ? .seconds(5) : .seconds(1))
            known.response = await (known.response ?? response)?.bounded(by: allowance)
            error = known
        }
        return error.isCancellation || error.isExpectedEnd ? error : described.mapError(settings.mapError(error))
    }
}
