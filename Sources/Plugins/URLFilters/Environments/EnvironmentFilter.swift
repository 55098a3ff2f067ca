public import Errand

import ErrandEssentials

/// Sends requests to the environment that is selected; made by `.environment`.
///
/// A relative path is appended to `base/version`, one with a leading slash starts at the origin, as everywhere; absolute
/// URLs and bases of a request's own stay; those of the environment's own origins get the agent's secrets, as relative
/// paths do. It stands first, before what signs or caches. Cached answers of different
/// environments are apart.
public struct EnvironmentFilter: Filter {
    static let name = "environment"
    /// The URL that paths are appended to.
    public typealias Rule = @Sendable (ServiceSettings) throws -> String

    private let environments: ServiceEnvironments
    private let rule: Rule

    /// - Parameter rule: `base/version`, or `base` without a version, by default.
    public init(_ environments: ServiceEnvironments, rule: @escaping Rule = Self.versioned) {
        (self.environments, self.rule) = (environments, rule)
    }

    /// `base/version`, or `base` without a version.
    public static let versioned: Rule = { settings in
        guard let version = settings.version else { return settings.baseURL }
        let base = URLText.normalized(prefix: settings.baseURL)
        return version.hasPrefix("/") ? base + version : base + "/" + version
    }

    /// Puts the environment's base in the place of the place-holder and goes on.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let settings = environments.settings
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

    /// Whether an absolute URL, such as a "next" link of the service's, has the origin of the environment or of its CDN.
    private func isService(_ url: URL, _ settings: ServiceSettings) throws -> Bool {
        TrustedOrigins([try rule(settings), settings.cdnURL].compactMap(\.self)).contains(url)
    }

    /// Nil for a URL that does not begin with a place-holder.
    private func rebased(_ url: URL, _ settings: ServiceSettings) throws -> URL? {
        let text = url.absoluteString
        guard let placeholder = Placeholder.all.first(where: { text.hasPrefix($0.origin) }) else { return nil }
        guard let base = try placeholder == .base ? rule(settings) : settings.cdnURL else {
            throw URLFilterError(.environment, filter: Self.name, "the environment has no CDN")
        }
        let isRelative = text.hasPrefix(placeholder.directory)
        let rest = text.dropFirst((isRelative ? placeholder.directory : placeholder.origin).count)
        var result = URLText(url)
        result.filter = Self.name
        try result.rebase(on: base, rest: rest, isRelative: isRelative)
        return try result.url()
    }
}

/// What stands for the base until the filter knows which it is.
enum Placeholder: CaseIterable {
    case base, cdn

    static let all = allCases

    /// With a slash at its end.
    var origin: String {
        switch self {
        case .base: "https://environment.invalid/"
        case .cdn: "https://cdn.environment.invalid/"
        }
    }

    /// What relative paths are appended to; told apart by it from paths that start at the origin.
    var directory: String { origin + "~base~/" }
}

extension URLText {
    /// Appends the rest of a URL to a base, or to the base's origin.
    fileprivate mutating func rebase(on base: String, rest: Substring, isRelative: Bool) throws {
        try checkBase(base)
        let layout = URLLayout(base)
        let origin = base[offsets: 0..<(layout.pathStart ?? layout.queryStart)]
        let directory = Self.normalized(prefix: String(base[offsets: 0..<layout.queryStart]))
        change { $0 = (isRelative ? directory : String(origin)) + "/" + rest }
    }
}

extension Filter where Self == EnvironmentFilter {
    /// Sends requests to the environment that is selected. The agent's `baseURL` is then ``ServiceEnvironments/baseURL``.
    public static func environment(
        _ environments: ServiceEnvironments, rule: @escaping EnvironmentFilter.Rule = EnvironmentFilter.versioned
    ) -> EnvironmentFilter { EnvironmentFilter(environments, rule: rule) }
}
