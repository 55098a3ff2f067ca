public import Errand
import ErrandEssentials

/// Sends requests to the selected environment; made by `.environment`.
///
/// A relative path is appended to `base/version`, a path with a leading slash starts at the origin. Absolute URLs, and the
/// bases that requests choose themselves, are not changed; if their origin is one of the environment, the request receives
/// the agent's credentials like those with relative paths. Put it first, before filters that sign or cache. Each
/// environment has cache entries of its own.
public struct EnvironmentFilter: Filter {
    static let name = "environment"
    /// Returns the base URL for an environment.
    public typealias Rule = @Sendable (ServiceSettings) throws -> String

    private let environments: ServiceEnvironments
    private let rule: Rule

    /// Makes the filter.
    ///
    /// - Parameters:
    ///   - environments: the environments and which of them is selected.
    ///   - rule: `base/version`, or `base` without a version, by default.
    public init(_ environments: ServiceEnvironments, rule: @escaping Rule = Self.versioned) {
        (self.environments, self.rule) = (environments, rule)
    }

    /// `base/version`, or `base` without a version.
    public static let versioned: Rule = { settings in
        guard let version = settings.version else { return settings.baseURL }
        let base = URLText.normalized(prefix: settings.baseURL)
        return version.hasPrefix("/") ? base + version : base + "/" + version
    }

    /// ``FilterTraits/changesRequest``
    public var traits: FilterTraits { .changesRequest }
    /// `environment release`, with the one that is selected.
    public var explanation: String { "\(Self.name) \(environments.selected)" }

    /// The request at the base of the environment that is selected.
    public func preview(of request: HTTPRequest) throws -> HTTPRequest {
        guard let url = try rebased(request.url, environments.settings) else { return request }
        var request = request
        request.url = url
        return request
    }

    /// Replaces the placeholder with the base of the environment with which the call began, in each attempt, and calls
    /// `next`. Throws ``URLFilterError`` for a base that is missing or not valid, and the errors of `next`.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let settings = exchange.once(environments.begun) { environments.settings }
        exchange.tags[ServiceSettings.self] = settings
        if let url = try rebased(exchange.http.url, settings) {
            exchange.http.url = url
        } else if !exchange.isTrusted, try isService(exchange.http.url, settings) {
            exchange.trustOrigin()
        }
        if let key = exchange.tags[ResourceURL.self], let url = try rebased(key, settings) {
            exchange.tags[ResourceURL.self] = url
        }
        return try await next.sending(exchange)
    }

    /// Whether an absolute URL, such as a "next" link of the service, has the origin of the environment or of its CDN.
    private func isService(_ url: URL, _ settings: ServiceSettings) throws -> Bool {
        TrustedOrigins([try rule(settings), settings.cdnURL].compactMap(\.self)).contains(url)
    }

    /// The URL with the environment's base; nil for a URL without a placeholder.
    private func rebased(_ url: URL, _ settings: ServiceSettings) throws -> URL? {
        let text = url.absoluteString
        guard let placeholder = Placeholder.all.first(where: { text.hasPrefix($0.origin) }) else { return nil }
        guard let base = try placeholder == .base ? rule(settings) : settings.cdnURL else {
            throw URLFilterError(.missingEnvironment, filter: Self.name, "the environment has no CDN")
        }
        let isRelative = text.hasPrefix(placeholder.directory)
        let rest = text.dropFirst((isRelative ? placeholder.directory : placeholder.origin).count)
        var result = URLText(url)
        result.filter = Self.name
        try result.rebase(on: base, rest: rest, isRelative: isRelative)
        return try result.url()
    }
}

/// Stands for the base until the filter replaces it.
enum Placeholder: CaseIterable {
    case base, cdn

    static let all = allCases

    /// The origin, with a trailing slash.
    var origin: String {
        switch self {
        case .base: "https://environment.invalid/"
        case .cdn: "https://cdn.environment.invalid/"
        }
    }

    /// The base for relative paths, which distinguishes them from paths that start at the origin.
    var directory: String { origin + "~base~/" }
}

extension URLText {
    /// Appends the rest of a URL to a base, or to the origin of the base.
    fileprivate mutating func rebase(on base: String, rest: Substring, isRelative: Bool) throws {
        try checkBase(base)
        let layout = URLLayout(base)
        let origin = base[offsets: 0..<(layout.pathStart ?? layout.queryStart)]
        let directory = Self.normalized(prefix: String(base[offsets: 0..<layout.queryStart]))
        change { $0 = (isRelative ? directory : String(origin)) + "/" + rest }
    }
}

extension Filter where Self == EnvironmentFilter {
    /// Sends requests to the selected environment. Set the agent's `baseURL` to ``ServiceEnvironments/baseURL``.
    public static func environment(
        _ environments: ServiceEnvironments, rule: @escaping EnvironmentFilter.Rule = EnvironmentFilter.versioned
    ) -> EnvironmentFilter { EnvironmentFilter(environments, rule: rule) }
}
