public import Errand

/// Controls whether a request may use a cellular network. Defaults to `true`. Ignored on Linux.
///
/// ```swift
/// var tags: Tags { Tags().with(AllowsCellularAccess.self, false) }
/// ```
public enum AllowsCellularAccess: TagKey {
    /// Calls without this tag may use cellular networks.
    public static let defaultValue = true
    /// Returns `true`, so calls with different values don't share a response.
    public static var affectsResponse: Bool { true }
}

/// Controls whether a request may use a network that the system considers expensive, such as a cellular network or a
/// personal hotspot. Defaults to `true`. Ignored on Linux.
///
/// ```swift
/// var tags: Tags { Tags().with(AllowsExpensiveNetworkAccess.self, false) }
/// ```
///
/// If only expensive networks are available, the request fails with `cannotConnect`. The underlying `URLError` contains
/// the reason (`networkUnavailableReason`). A restriction in the session's configuration applies to all requests.
public enum AllowsExpensiveNetworkAccess: TagKey {
    /// Calls without this tag may use expensive networks.
    public static let defaultValue = true
    /// Returns `true`, so calls with different values don't share a response.
    public static var affectsResponse: Bool { true }
}

/// Controls whether a request may use a network in Low Data Mode. Defaults to `true`. Ignored on Linux.
///
/// ```swift
/// var tags: Tags { Tags().with(AllowsConstrainedNetworkAccess.self, false) }
/// ```
///
/// If only networks in Low Data Mode are available, the request fails with `cannotConnect`. The underlying `URLError`
/// contains the reason (`networkUnavailableReason`). A restriction in the session's configuration applies to all
/// requests.
public enum AllowsConstrainedNetworkAccess: TagKey {
    /// Calls without this tag may use networks in Low Data Mode.
    public static let defaultValue = true
    /// Returns `true`, so calls with different values don't share a response.
    public static var affectsResponse: Bool { true }
}
