public import Errand

/// Whether a request may go over a cellular network; true by default, and without a meaning on Linux.
///
/// ```swift
/// var tags: Tags { Tags().with(AllowsCellularAccess.self, false) }
/// ```
public enum AllowsCellularAccess: TagKey {
    /// True.
    public static let defaultValue = true
}
