public import Errand

/// What one environment of a service needs to be known: where it is, which version, and its keys.
public struct ServiceSettings: Sendable, Hashable {
    /// Absolute, http or https.
    public var baseURL: String
    /// The base for requests that choose `.cdn`; without one they fail.
    public var cdnURL: String?
    /// Goes between the base and a request's path: `base/version/path`; nil for `base/path`.
    public var version: String?
    /// By names of one's own; no description shows them.
    public var keys: [String: SecretKey]

    /// Settings for one environment.
    public init(baseURL: String, cdnURL: String? = nil, version: String? = nil, keys: [String: SecretKey] = [:]) {
        (self.baseURL, self.cdnURL, self.version, self.keys) = (baseURL, cdnURL, version, keys)
    }
}

extension ServiceSettings: TagKey {
    /// None: no `.environment` filter has seen the request.
    public static var defaultValue: ServiceSettings? { nil }
}

extension Exchange {
    /// The settings of the environment that this call goes to: those that were selected when the `.environment` filter
    /// saw it, whatever is selected meanwhile. Nil before that filter.
    public var service: ServiceSettings? { tags[ServiceSettings.self] }
}
