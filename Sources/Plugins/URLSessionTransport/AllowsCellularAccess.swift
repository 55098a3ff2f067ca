public import Errand

/// Whether a request may use a cellular network; true by default, and ignored on Linux.
///
/// ```swift
/// var tags: Tags { Tags().with(AllowsCellularAccess.self, false) }
/// ```
public enum AllowsCellularAccess: TagKey {
    /// The value of a request without this tag: `true`.
    public static let defaultValue = true
    /// True.
    public static var affectsResponse: Bool { true }
}
