public import Errand

extension BaseChoice {
    /// The agent's `cdnURL`; without one the request fails, rather than use the base URL.
    public static let cdn = BaseChoice.named("cdn")
}

extension AgentConfiguration {
    /// The base URL for requests with `base: .cdn`; none by default.
    public var cdnURL: String? {
        get { namedBaseURLs["cdn"] }
        set { namedBaseURLs["cdn"] = newValue }
    }
}
