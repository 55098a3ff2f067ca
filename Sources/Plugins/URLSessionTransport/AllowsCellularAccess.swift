public import Errand

/// Controls whether a request may use a cellular network. Defaults to `true`. Ignored on Linux.
///
/// ```swift
/// var tags: Tags { Tags().with(AllowsCellularAccess.self, false) }
/// ```
public enum AllowsCellularAccess: TagKey {
    /// The value for requests without this tag.
    public static let defaultValue = true
    /// Returns `true`.
    public static var affectsResponse: Bool { true }
}
