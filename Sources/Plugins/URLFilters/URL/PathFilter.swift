public import Errand

/// Adds a prefix to every path, or replaces paths. Create it with `.prefix` or `.path`.
public struct PathFilter: URLTextFilter {
    private enum Work: Sendable {
        case prefix(String)
        case replace(String, with: String)
        case computed(@Sendable (_ path: String, Exchange) async throws -> String)
    }

    /// The filter's name in errors and exemptions.
    public let name: String
    /// Whether cache keys contain the changed path.
    public let isInCacheKey: Bool
    private let work: Result<Work, URLFilterError>

    private init(_ name: String, _ inCacheKey: Bool, work: () throws -> Work) {
        (self.name, isInCacheKey) = (name, inCacheKey)
        self.work = Result(catching: work).mapError {
            $0 as? URLFilterError ?? URLFilterError(.invalidURL, filter: name, "\($0)")
        }
    }

    /// Creates a filter that adds a percent-encoded prefix to every path. If the prefix can't be part of a path,
    /// requests throw ``URLFilterError``.
    public init(prefix: String, inCacheKey: Bool = true, name: String = "prefix") {
        self.init(name, inCacheKey) {
            .prefix(URLText.normalized(prefix: try URLText.checked(path: prefix, filter: name)))
        }
    }

    /// Creates a filter that replaces the beginning of paths, in whole segments. Paths that begin differently don't
    /// change.
    public init(_ old: String, with new: String, inCacheKey: Bool = true, name: String = "path") {
        self.init(name, inCacheKey) { .replace(old, with: new) }
    }

    /// Creates a filter whose closure returns the new path. Both paths are percent-encoded.
    public init(
        inCacheKey: Bool = true, name: String = "path",
        _ path: @escaping @Sendable (_ path: String, Exchange) async throws -> String
    ) {
        self.init(name, inCacheKey) { .computed(path) }
    }

    /// Changes the path. Throws ``URLFilterError`` if the new path isn't valid.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        switch try work.get() {
        case .prefix(let prefix): try url.prefixPath(checked: prefix)
        case .replace(let old, let new): try url.replacePath(old, with: new)
        case .computed(let path): try url.setPath(try await path(url.path, exchange))
        }
    }
}

extension URLFilter where Self == PathFilter {
    /// Adds a prefix to every path: `.prefix("/api/v2")`.
    public static func prefix(_ prefix: String, inCacheKey: Bool = true, name: String = "prefix") -> PathFilter {
        PathFilter(prefix: prefix, inCacheKey: inCacheKey, name: name)
    }

    /// Replaces the beginning of paths: `.path("/old", with: "/new")`.
    public static func path(
        _ old: String, with new: String, inCacheKey: Bool = true, name: String = "path"
    ) -> PathFilter { PathFilter(old, with: new, inCacheKey: inCacheKey, name: name) }

    /// Replaces paths with a closure's result: `.path { path, exchange in path.lowercased() }`.
    public static func path(
        inCacheKey: Bool = true, name: String = "path",
        _ path: @escaping @Sendable (_ path: String, Exchange) async throws -> String
    ) -> PathFilter { PathFilter(inCacheKey: inCacheKey, name: name, path) }
}
