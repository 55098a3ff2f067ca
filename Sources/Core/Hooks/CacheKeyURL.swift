#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The URL that a cache makes its key of, where that is not the one on the wire; nil, the default, where it is.
///
/// A filter that adds to the URL what must not split a cache, such as a token or a time, puts the URL without it into
/// `exchange.tags[CacheKeyURL.self]`; one that adds what must, such as a version, adds it to both. It speaks of the
/// call's first request on the wire: a redirect leads to another URL.
public enum CacheKeyURL: TagKey {
    public static var defaultValue: URL? { nil }
}
