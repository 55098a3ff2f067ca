import ErrandHTTP

/// What is known of a request when it fails, and the error that its caller gets.
struct FailureReport {
    let described: any Request
    let settings: PipelineSettings
    let activity: Activity
    /// As far as it had come.
    let response: HTTPResponse?

    /// The error with its evidence, passed through the agent's mapping and then the request's. The rest of a body is
    /// cancelled.
    func explain(_ error: any Error) async -> any Error {
        let configuration = settings.configuration
        var error = error
        if var known = error as? ErrandError {
            known.activity = known.activity ?? activity.id
            known.request = known.request ?? activity.lastSent
            let allowance = BodyAllowance(
                bytes: configuration.maximumErrorBodyBytes, timeout: described.timeout ?? configuration.timeout,
                time: activity.time)
            known.response = await (known.response ?? response)?.bounded(by: allowance)
            error = known
        }
        return error.isCancellation ? error : described.mapError(configuration.mapError(error))
    }
}
