public import Errand

/// What makes two requests the same for the cache, beside method and URL.
///
/// ```swift
/// var cacheKey: CacheKeyRule { .standard.dropping("timestamp", "nonce").including("X-Region") }
/// ```
///
/// Applies to timed entries. An HTTP cache has no choice: its key is the URL, and the server's `Vary` says the rest.
public struct CacheKeyRule: Sendable, Hashable {
    var name: String?
    var dropped: Set<String> = []
    var headers: [HTTPHeaderName] = [.accept, .acceptLanguage, "Range"]
    var ignoresBody = false
    var additions: [String] = []

    /// The URL that URL filters show to caches, `Accept`, `Accept-Language`, `Range`, the body, and, unless the policy
    /// names a partition, a keyed hash of `Authorization`. The default.
    public static let standard = CacheKeyRule()

    /// A key of the request's own instead of all of that, such as `"home/\(city)"`. Two requests of one name share one
    /// entry, whatever they ask for.
    public static func named(_ name: String) -> CacheKeyRule {
        var rule = CacheKeyRule()
        rule.name = name
        return rule
    }

    /// Without these parameters, in the query and in a form: what changes each time and makes no other answer.
    public func dropping(_ parameters: String...) -> CacheKeyRule {
        var rule = self
        rule.dropped.formUnion(parameters)
        return rule
    }

    /// With these headers too.
    public func including(_ headers: HTTPHeaderName...) -> CacheKeyRule {
        var rule = self
        rule.headers += headers.filter { !rule.headers.contains($0) }
        return rule
    }

    /// Whatever the body is.
    public func ignoringBody() -> CacheKeyRule {
        var rule = self
        rule.ignoresBody = true
        return rule
    }

    /// With something that no header and no URL shows.
    public func adding(_ text: String) -> CacheKeyRule {
        var rule = self
        rule.additions.append(text)
        return rule
    }
}
