public import Errand

extension RequestBaseURL {
    /// Uses the agent's `cdnURL`. If it isn't set, the request fails and doesn't fall back to the base URL.
    public static let cdn = RequestBaseURL.named("cdn")
}

extension AgentConfiguration {
    /// The base URL for requests with `base: .cdn`. Defaults to `nil`.
    public var cdnURL: String? {
        get { namedBaseURLs["cdn"] }
        set { namedBaseURLs["cdn"] = newValue }
    }
}
