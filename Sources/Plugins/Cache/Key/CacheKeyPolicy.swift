public import Errand

/// The rule that decides which requests share a timed entry, in addition to method and URL.
///
/// ```swift
/// var cacheKey: CacheKeyPolicy { .standard.dropping("timestamp", "nonce").including("X-Region") }
/// ```
///
/// It applies only to timed entries. The key of an HTTP entry consists of the URL and the headers in the server's
/// `Vary`.
public struct CacheKeyPolicy: Sendable, Hashable {
    var name: String?
    var dropped: Set<String> = []
    var headers: [HTTPHeaderName] = [.accept, .acceptLanguage, .range]
    var ignoresBody = false
    var additions: [String] = []

    /// The default components: the ``ResourceURL``, `Accept`, `Accept-Language`, `Range` and the body. Without a
    /// partition in the policy, they include a keyed hash of the marks that distinguish users.
    public static let standard = CacheKeyPolicy()

    /// Replaces the components with a name, such as `"home/\(city)"`. Requests of a user with the same name share an
    /// entry, whatever their URL.
    public static func named(_ name: String) -> CacheKeyPolicy {
        var rule = CacheKeyPolicy()
        rule.name = name
        return rule
    }

    /// Returns a rule that ignores these query and form parameters. Use it for parameters that change with each request
    /// without changing the response.
    public func dropping(_ parameters: String...) -> CacheKeyPolicy {
        var rule = self
        rule.dropped.formUnion(parameters)
        return rule
    }

    /// Returns a rule that also includes these header fields.
    public func including(_ headers: HTTPHeaderName...) -> CacheKeyPolicy {
        var rule = self
        rule.headers += headers.filter { !rule.headers.contains($0) }
        return rule
    }

    /// Returns a rule that ignores the body.
    public func ignoringBody() -> CacheKeyPolicy {
        var rule = self
        rule.ignoresBody = true
        return rule
    }

    /// Returns a rule that also includes a text, for a difference outside the URL and headers.
    public func adding(_ text: String) -> CacheKeyPolicy {
        var rule = self
        rule.additions.append(text)
        return rule
    }
}
