import ErrandHTTP

/// What is known of a request when it fails, and the error that its caller gets.
struct FailureReport {
    private let described: any Request
    private let configuration: AgentConfiguration
    private let activity: Activity
    /// As it was built; what filters and redirects made of it counts more.
    var request: HTTPRequest?
    var response: HTTPResponse?

    init(_ described: any Request, _ configuration: AgentConfiguration, _ activity: Activity) {
        self.described = described
        self.configuration = configuration
        self.activity = activity
    }

    /// The error with its evidence, passed through the agent's mapping and then the request's. The rest of a body is
    /// cancelled.
    func explain(_ error: any Error) async -> any Error {
        var error = error
        if var known = error as? ErrandError {
            known.activity = known.activity ?? activity.id
            known.request = known.request ?? activity.lastSent ?? request
            let allowance = BodyAllowance(
                bytes: configuration.maximumErrorBodyBytes, timeout: described.timeout ?? configuration.timeout,
                time: activity.time)
            known.response = await (known.response ?? response)?.bounded(by: allowance)
            error = known
        }
        return error.isCancellation ? error : described.mapError(configuration.mapError(error))
    }
}
