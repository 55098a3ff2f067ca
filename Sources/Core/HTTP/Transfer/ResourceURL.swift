public import ErrandEssentials

/// The URL that identifies the resource, if it differs from the URL on the wire. Defaults to `nil`: they are the same.
///
/// Caches derive their keys from it, and downloads their file names. If your filter adds a token or a time to the URL,
/// which doesn't identify the resource, put the URL without it into `exchange.tags[ResourceURL.self]`. If it adds
/// something that does, such as a version, add it to both URLs. The tag applies only to the call's first request on the
/// wire, because a redirect leads to another URL.
public enum ResourceURL: TagKey {
    /// Defaults to `nil`.
    public static var defaultValue: URL? { nil }
}
