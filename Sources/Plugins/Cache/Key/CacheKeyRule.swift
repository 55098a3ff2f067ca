public import Errand

/// The rule that decides which requests share a timed entry, in addition to method and URL.
///
/// ```swift
/// var cacheKey: CacheKeyRule { .standard.dropping("timestamp", "nonce").including("X-Region") }
/// ```
///
/// Applies to timed entries only: the key of an HTTP entry is the URL, together with the headers that the server's
/// `Vary` names.
public struct CacheKeyRule: Sendable, Hashable {
    var name: String?
    var dropped: Set<String> = []
    var headers: [HTTPHeaderName] = [.accept, .acceptLanguage, .range]
    var ignoresBody = false
    var additions: [String] = []

    /// The ``ResourceURL``, `Accept`, `Accept-Language`, `Range`, the body, and, unless the policy names a partition, a
    /// keyed hash of the marks that tell users apart. The default.
    public static let standard = CacheKeyRule()

    /// A name instead of these components, such as `"home/\(city)"`. Requests of a user with the same name share one
    /// entry, whatever their URL.
    public static func named(_ name: String) -> CacheKeyRule {
        var rule = CacheKeyRule()
        rule.name = name
        return rule
    }

    /// Leaves out these parameters of the query and of a form: those that change with each request but not the
    /// response.
    public func dropping(_ parameters: String...) -> CacheKeyRule {
        var rule = self
        rule.dropped.formUnion(parameters)
        return rule
    }

    /// Adds header fields.
    public func including(_ headers: HTTPHeaderName...) -> CacheKeyRule {
        var rule = self
        rule.headers += headers.filter { !rule.headers.contains($0) }
        return rule
    }

    /// Leaves out the body.
    public func ignoringBody() -> CacheKeyRule {
        var rule = self
        rule.ignoresBody = true
        return rule
    }

    /// Adds text, for a difference that neither the URL nor a header contains.
    public func adding(_ text: String) -> CacheKeyRule {
        var rule = self
        rule.additions.append(text)
        return rule
    }
}
