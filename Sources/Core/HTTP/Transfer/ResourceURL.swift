public import ErrandEssentials

/// The URL that identifies the resource, where it differs from the one on the wire; nil, the default, where it does
/// not.
///
/// A cache derives its key from it, a download its name. A filter that adds to the URL what does not identify the
/// resource, such as a token or a time, puts the URL without it into `exchange.tags[ResourceURL.self]`; one that adds
/// what does, such as a version, adds it to both. It applies to the call's first request on the wire: a redirect leads
/// to another URL.
public enum ResourceURL: TagKey {
    /// Nil.
    public static var defaultValue: URL? { nil }
}
