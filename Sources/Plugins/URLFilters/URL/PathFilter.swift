public import Errand

/// Puts a path before every path, or another in its place; made by `.prefix` and `.path`.
public struct PathFilter: URLTextFilter {
    private enum Work: Sendable {
        case prefix(String)
        case replace(String, with: String)
        case computed(@Sendable (_ path: String, Exchange) async throws -> String)
    }

    /// What errors and exemptions call it.
    public let name: String
    /// Whether a cache's key sees it.
    public let isInCacheKey: Bool
    private let work: Result<Work, URLFilterError>

    private init(_ name: String, _ inCacheKey: Bool, work: () throws -> Work) {
        (self.name, isInCacheKey) = (name, inCacheKey)
        self.work = Result(catching: work).mapError {
            $0 as? URLFilterError ?? URLFilterError(.invalidURL, filter: name, "\($0)")
        }
    }

    /// A path before every path. Must be percent-encoded; what cannot be a path is thrown when the filter runs.
    public init(prefix: String, inCacheKey: Bool = true, name: String = "prefix") {
        self.init(name, inCacheKey) {
            .prefix(URLText.normalized(prefix: try URLText.checked(path: prefix, filter: name)))
        }
    }

    /// One beginning of a path in the place of another, in whole segments; other paths stay.
    public init(_ old: String, with new: String, inCacheKey: Bool = true, name: String = "path") {
        self.init(name, inCacheKey) { .replace(old, with: new) }
    }

    /// A path computed of the one that is there, both percent-encoded.
    public init(
        inCacheKey: Bool = true, name: String = "path",
        _ path: @escaping @Sendable (_ path: String, Exchange) async throws -> String
    ) {
        self.init(name, inCacheKey) { .computed(path) }
    }

    /// Changes the path.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        switch try work.get() {
        case .prefix(let prefix): try url.prefixPath(checked: prefix)
        case .replace(let old, let new): try url.replacePath(old, with: new)
        case .computed(let path): try url.setPath(try await path(url.path, exchange))
        }
    }
}

extension URLFilter where Self == PathFilter {
    /// Puts a path before every path: `.prefix("/api/v2")`.
    public static func prefix(_ prefix: String, inCacheKey: Bool = true, name: String = "prefix") -> PathFilter {
        PathFilter(prefix: prefix, inCacheKey: inCacheKey, name: name)
    }

    /// Puts one beginning of a path in the place of another: `.path("/old", with: "/new")`.
    public static func path(
        _ old: String, with new: String, inCacheKey: Bool = true, name: String = "path"
    ) -> PathFilter { PathFilter(old, with: new, inCacheKey: inCacheKey, name: name) }

    /// Computes another path: `.path { path, exchange in path.lowercased() }`.
    public static func path(
        inCacheKey: Bool = true, name: String = "path",
        _ path: @escaping @Sendable (_ path: String, Exchange) async throws -> String
    ) -> PathFilter { PathFilter(inCacheKey: inCacheKey, name: name, path) }
}
