public import Errand

/// The settings of one environment of a service: its base URLs, its API version and its keys.
public struct ServiceSettings: Sendable, Hashable {
    /// The base URL: absolute, http or https.
    public var baseURL: String
    /// The base URL for requests with `base: .cdn`; nil, the default, makes them fail.
    public var cdnURL: String?
    /// The API version between the base and a request's path: `base/version/path`; nil, the default, for `base/path`.
    public var version: String?
    /// The keys by name; no description shows them.
    public var keys: [String: SecretKey]

    /// Makes the settings of one environment.
    public init(baseURL: String, cdnURL: String? = nil, version: String? = nil, keys: [String: SecretKey] = [:]) {
        (self.baseURL, self.cdnURL, self.version, self.keys) = (baseURL, cdnURL, version, keys)
    }
}

extension ServiceSettings: TagKey {
    /// Nil: the request has not passed an `.environment` filter.
    public static var defaultValue: ServiceSettings? { nil }
    /// True.
    public static var affectsResponse: Bool { true }
}

extension Exchange {
    /// The settings of the environment of this call: the one that was selected when the call passed the `.environment`
    /// filter. Nil before that filter.
    public var service: ServiceSettings? { tags[ServiceSettings.self] }
}
