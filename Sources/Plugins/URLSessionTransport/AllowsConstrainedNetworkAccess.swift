public import Errand

/// Whether a request may use a network for which the user has turned on Low Data Mode; true by default, and ignored on
/// Linux.
///
/// ```swift
/// var tags: Tags { Tags().with(AllowsConstrainedNetworkAccess.self, false) }
/// ```
///
/// If no other network is available, the request fails with `cannotConnect`; the underlying `URLError` gives the reason
/// (`networkUnavailableReason`). A configuration that forbids it applies to all requests.
public enum AllowsConstrainedNetworkAccess: TagKey {
    /// The value of a request without this tag: `true`.
    public static let defaultValue = true
    /// True.
    public static var affectsResponse: Bool { true }
}
