public import Errand

/// The settings of one environment: its base URLs, API version and keys.
public struct ServiceConfiguration: Sendable, Hashable {
    /// The base URL: absolute, http or https.
    public var baseURL: String
    /// The base URL for requests with `base: .cdn`. Defaults to `nil`, which makes those requests fail.
    public var cdnURL: String?
    /// The API version between the base and a request's path, as in `base/version/path`. Defaults to `nil`:
    /// `base/path`.
    public var version: String?
    /// The keys by name. Descriptions never show them.
    public var keys: [String: SecretKey]

    /// Creates the settings of one environment.
    public init(baseURL: String, cdnURL: String? = nil, version: String? = nil, keys: [String: SecretKey] = [:]) {
        (self.baseURL, self.cdnURL, self.version, self.keys) = (baseURL, cdnURL, version, keys)
    }
}

extension ServiceConfiguration: TagKey {
    /// `nil`, until the request passes an `.environment` filter.
    public static var defaultValue: ServiceConfiguration? { nil }
    /// The environment affects the response.
    public static var affectsResponse: Bool { true }
}

extension Exchange {
    /// The settings of the call's environment, or `nil` before the `.environment` filter. They stay the same for the
    /// whole call, even if your app selects another environment.
    public var service: ServiceConfiguration? { tags[ServiceConfiguration.self] }
}
