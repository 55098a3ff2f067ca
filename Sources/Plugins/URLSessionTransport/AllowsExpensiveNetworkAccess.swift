public import Errand

/// Whether a request may use a network that the system calls expensive, such as a cellular one or a personal hotspot; true
/// by default, and ignored on Linux.
///
/// ```swift
/// var tags: Tags { Tags().with(AllowsExpensiveNetworkAccess.self, false) }
/// ```
///
/// If no other network is available, the request fails with `cannotConnect`; the underlying `URLError` gives the reason
/// (`networkUnavailableReason`). A configuration that forbids it applies to all requests.
public enum AllowsExpensiveNetworkAccess: TagKey {
    /// The value of a request without this tag: `true`.
    public static let defaultValue = true
    /// True.
    public static var affectsResponse: Bool { true }
}
