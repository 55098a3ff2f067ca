public import Errand
import ErrandEssentials

/// Sends requests to the selected environment of a service, such as development or release. Create it with
/// `.environment`.
///
/// The filter appends a relative path to the environment's base URL and version. A path with a leading slash starts at
/// the environment's origin. The filter doesn't change absolute URLs, or requests that choose their own base. If an
/// absolute URL has the environment's origin, the request gets the agent's credentials.
///
/// Put this filter first, before filters that sign or cache. Each environment has its own cache entries.
public struct EnvironmentFilter: Filter {
    static let name = "environment"
    /// A closure that returns an environment's base URL.
    public typealias Rule = @Sendable (ServiceConfiguration) throws -> String

    private let environments: ServiceEnvironments
    private let rule: Rule

    /// Creates a filter for the environments of a service.
    ///
    /// - Parameter rule: returns an environment's base URL. Default: the environment's base URL, followed by a slash
    ///   and its version, if any.
    public init(_ environments: ServiceEnvironments, rule: @escaping Rule = Self.versioned) {
        (self.environments, self.rule) = (environments, rule)
    }

    /// The default rule, which returns the environment's base URL, followed by a slash and its version, if any.
    public static let versioned: Rule = { settings in
        guard let version = settings.version else { return settings.baseURL }
        let base = URLText.normalized(prefix: settings.baseURL)
        return version.hasPrefix("/") ? base + version : base + "/" + version
    }

    /// Returns ``FilterTraits/changesRequest``.
    public var traits: FilterTraits { .changesRequest }
    /// The filter's line in the agent's `explain`, such as `environment release`.
    public var explanation: String { "\(Self.name) \(environments.selected)" }

    /// Returns the request with the selected environment's base URL.
    public func preview(of request: HTTPRequest) throws -> HTTPRequest {
        guard let url = try rebased(request.url, environments.settings) else { return request }
        var request = request
        request.url = url
        return request
    }

    /// Sets the base URL of the environment that was selected when the call started. Throws ``URLFilterError`` if the
    /// base URL is missing or invalid.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let settings = exchange.once(environments.begun) { environments.settings }
        exchange.tags[ServiceConfiguration.self] = settings
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

    /// An absolute URL, such as a "next" link, can have the origin of the environment or its CDN.
    private func isService(_ url: URL, _ settings: ServiceConfiguration) throws -> Bool {
        TrustedOrigins([try rule(settings), settings.cdnURL].compactMap(\.self)).contains(url)
    }

    private func rebased(_ url: URL, _ settings: ServiceConfiguration) throws -> URL? {
        let text = url.absoluteString
        guard let placeholder = Placeholder.all.first(where: { text.hasPrefix($0.origin) }) else { return nil }
        guard let base = try placeholder == .base ? rule(settings) : settings.cdnURL else {
            throw URLFilterError(.missingEnvironment, filter: Self.name, "the current environment has no CDN URL")
        }
        let isRelative = text.hasPrefix(placeholder.directory)
        let rest = text.dropFirst((isRelative ? placeholder.directory : placeholder.origin).count)
        var result = URLText(url)
        result.filter = Self.name
        try result.rebase(on: base, rest: rest, isRelative: isRelative)
        return try result.url()
    }
}

/// Stands in for a base URL in URLs until the filter replaces it.
enum Placeholder: CaseIterable {
    case base, cdn

    static let all = allCases

    var origin: String {
        switch self {
        case .base: "https://environment.invalid/"
        case .cdn: "https://cdn.environment.invalid/"
        }
    }

    /// Distinguishes relative paths from paths that start at the origin.
    var directory: String { origin + "~base~/" }
}

extension URLText {
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
