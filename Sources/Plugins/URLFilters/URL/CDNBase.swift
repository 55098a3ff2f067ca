public import Errand

extension BaseChoice {
    /// The agent's `cdnURL`; without one the request fails, and never falls back to the base.
    public static let cdn = BaseChoice.named("cdn")
}

extension AgentConfiguration {
    /// The base for requests that choose `.cdn`; none by default.
    public var cdnURL: String? {
        get { namedBaseURLs["cdn"] }
        set { namedBaseURLs["cdn"] = newValue }
    }
}
