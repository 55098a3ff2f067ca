public import Errand
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// The environments of a service, such as development and release. One of them is selected, and you can select another
/// while the app runs.
///
/// ```swift
/// let shop = try ServiceEnvironments(
///     [
///         .develop: ServiceConfiguration(baseURL: "https://dev.example.com", version: "v2", keys: ["sign": "dev"]),
///         .release: ServiceConfiguration(
///             baseURL: "https://api.example.com", version: "v2", keys: ["sign": .init(key)]),
///     ], selected: .develop)
/// let agent = NetworkAgent(baseURL: shop.baseURL, transport: .curl, filters: [.environment(shop)])
/// try shop.select(.release)
/// ```
///
/// You can use the environments from any task. A running call keeps the environment that it started with.
public final class ServiceEnvironments: Sendable {
    /// The name of an environment: a constant, or your own name as a literal.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name as text.
        public let rawValue: String
        /// Creates a name from text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Creates a name from a string literal.
        public init(stringLiteral value: String) { rawValue = value }
        /// The environment for development.
        public static let develop: Name = "develop"
        /// The environment for testing a release.
        public static let releaseCandidate: Name = "releaseCandidate"
        /// The environment for users.
        public static let release: Name = "release"
        /// The name as text.
        public var description: String { rawValue }
    }

    private let environments: [Name: ServiceConfiguration]
    private let selection: Mutex<Name>
    let begun = CallKey<ServiceConfiguration>()

    /// Creates environments and selects one.
    ///
    /// Throws ``URLFilterError/Code/missingEnvironment`` if `environments` doesn't contain the selected name, and
    /// `invalidURL` if a base, CDN or version can't be part of a URL.
    public init(_ environments: [Name: ServiceConfiguration], selected: Name) throws {
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

    /// The settings of an environment, or `nil` for an unknown name.
    public subscript(name: Name) -> ServiceConfiguration? { environments[name] }

    /// The settings of the selected environment.
    public var settings: ServiceConfiguration { environments[selected] ?? ServiceConfiguration(baseURL: "") }

    /// The placeholder to set as the agent's `baseURL`, which the `.environment` filter replaces. Its host can't exist
    /// (RFC 2606), so a request that misses the filter never reaches a server.
    public var baseURL: String { Placeholder.base.directory }
    /// The placeholder to set as the agent's `cdnURL`. The `.environment` filter replaces it.
    public var cdnURL: String { Placeholder.cdn.directory }

    private static func unknown(_ name: Name) -> URLFilterError {
        URLFilterError(.missingEnvironment, filter: EnvironmentFilter.name, "there is no environment named \"\(name)\"")
    }
}

extension ServiceConfiguration {
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

/// The settings of one environment: its base URLs, API version and keys.
public struct ServiceConfiguration: Sendable, Hashable {
    /// The environment's base URL: absolute, http or https.
    public var baseURL: String
    /// The base URL for requests with `base: .cdn`. Defaults to `nil`, which makes those requests fail.
    public var cdnURL: String?
    /// The API version, which is put between the base URL and a request's path. Defaults to `nil`, which omits the
    /// version.
    public var version: String?
    /// The environment's signing keys, by name. Descriptions never show them.
    public var keys: [String: SecretKey]

    /// Creates an environment's settings.
    public init(baseURL: String, cdnURL: String? = nil, version: String? = nil, keys: [String: SecretKey] = [:]) {
        (self.baseURL, self.cdnURL, self.version, self.keys) = (baseURL, cdnURL, version, keys)
    }
}

extension ServiceConfiguration: TagKey {
    /// Returns `nil`.
    public static var defaultValue: ServiceConfiguration? { nil }
    /// Returns `true`, because the environment affects the response. Calls to different environments therefore don't
    /// share a response.
    public static var affectsResponse: Bool { true }
}

extension Exchange {
    /// The settings of the call's environment, or `nil` before the `.environment` filter has run. The settings stay the
    /// same for the whole call.
    public var service: ServiceConfiguration? { tags[ServiceConfiguration.self] }
}
