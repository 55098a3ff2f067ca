import Errand
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// The environments of one service, one of which is selected; the selection can change while the app runs.
///
/// ```swift
/// let shop = try ServiceEnvironments(
///     [
///         .develop: ServiceSettings(baseURL: "https://dev.example.com", version: "v2", keys: ["sign": "dev"]),
///         .release: ServiceSettings(baseURL: "https://api.example.com", version: "v2", keys: ["sign": .init(key)]),
///     ], selected: .develop)
/// let agent = NetworkAgent(baseURL: shop.baseURL, transport: .curl, filters: [.environment(shop)])
/// try shop.select(.release)
/// ```
///
/// Safe to use from any task. A call keeps the environment with which it started, for its URL, its keys and its
/// signature.
public final class ServiceEnvironments: Sendable {
    /// The name of an environment: a constant, or a name of your own as a literal.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The text of the name.
        public let rawValue: String
        /// Makes a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Makes a name of a literal.
        public init(stringLiteral value: String) { rawValue = value }
        /// `develop`: for development.
        public static let develop: Name = "develop"
        /// `releaseCandidate`: for tests of a release.
        public static let releaseCandidate: Name = "releaseCandidate"
        /// `release`: for users.
        public static let release: Name = "release"
        /// The text of the name.
        public var description: String { rawValue }
    }

    private let environments: [Name: ServiceSettings]
    private let selection: Mutex<Name>
    /// The key of the settings with which a call began.
    let begun = CallKey<ServiceSettings>()

    /// Makes a set of environments, one of them selected. Throws ``URLFilterError/Code/missingEnvironment`` if the selected one is
    /// not among them, and `invalidURL` for a base, a CDN or a version that cannot be part of a URL.
    public init(_ environments: [Name: ServiceSettings], selected: Name) throws {
        guard environments[selected] != nil else { throw Self.unknown(selected) }
        for (name, settings) in environments { try settings.validate(name) }
        self.environments = environments
        selection = Mutex(selected)
    }

    /// The name of the selected environment.
    public var selected: Name { selection.withLock { $0 } }

    /// Selects an environment for later calls. Throws ``URLFilterError/Code/missingEnvironment`` for an unknown name.
    public func select(_ name: Name) throws {
        guard environments[name] != nil else { throw Self.unknown(name) }
        selection.withLock { $0 = name }
    }

    /// The names of all environments, sorted.
    public var names: [Name] { environments.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The settings of an environment; nil for an unknown name.
    public subscript(name: Name) -> ServiceSettings? { environments[name] }

    /// The settings of the selected environment.
    public var settings: ServiceSettings { environments[selected] ?? ServiceSettings(baseURL: "") }

    /// The agent's `baseURL`: a placeholder that the `.environment` filter replaces. Its host cannot exist (RFC 2606), so
    /// that without the filter no request reaches a server.
    public var baseURL: String { Placeholder.base.directory }
    /// The agent's `cdnURL`, another placeholder.
    public var cdnURL: String { Placeholder.cdn.directory }

    private static func unknown(_ name: Name) -> URLFilterError {
        URLFilterError(.missingEnvironment, filter: EnvironmentFilter.name, "there is no environment named \"\(name)\"")
    }
}

extension ServiceSettings {
    fileprivate func validate(_ name: ServiceEnvironments.Name) throws {
        for text in [baseURL, cdnURL].compactMap(\.self) {
            do { try URLSyntax.check(text) } catch {
                throw URLFilterError(
                    .invalidURL, filter: EnvironmentFilter.name, "the environment \"\(name)\": \(error.description)")
            }
            try URLText.checkWithoutQuery(text, filter: EnvironmentFilter.name)
        }
        if let version { _ = try URLText.checked(path: version, filter: EnvironmentFilter.name) }
    }
}
