import ErrandSupport
import ErrandHTTPSyntax
import Synchronization

/// The environments of one service, side by side, and which of them is selected; switched while the app runs.
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
/// Safe to use from anywhere. A call keeps the environment with which it began: its URL, its keys and its signature
/// never come from two.
public final class ServiceEnvironments: Sendable {
    /// The name of an environment: one of the three, or one of your own as a literal.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The text of the name.
        public let rawValue: String
        /// A name of one's own.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A name of one's own.
        public init(stringLiteral value: String) { rawValue = value }
        /// Where things are built.
        public static let develop: Name = "develop"
        /// What is about to be released.
        public static let releaseCandidate: Name = "releaseCandidate"
        /// What users use.
        public static let release: Name = "release"
        /// The text of the name.
        public var description: String { rawValue }
    }

    private let environments: [Name: ServiceSettings]
    private let selection: Mutex<Name>

    /// Throws ``URLFilterError/Code/environment`` if the selected one is not among them, and `invalidURL` for a base, CDN
    /// or version that cannot be requested.
    public init(_ environments: [Name: ServiceSettings], selected: Name) throws {
        guard environments[selected] != nil else { throw Self.unknown(selected) }
        for (name, settings) in environments { try settings.validate(name) }
        self.environments = environments
        selection = Mutex(selected)
    }

    /// Which one is selected.
    public var selected: Name { selection.withLock { $0 } }

    /// Selects another one, from the next call on. Throws ``URLFilterError/Code/environment`` for one that is not there.
    public func select(_ name: Name) throws {
        guard environments[name] != nil else { throw Self.unknown(name) }
        selection.withLock { $0 = name }
    }

    /// All of them, by name.
    public var names: [Name] { environments.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The settings of one; nil for one that is not there.
    public subscript(name: Name) -> ServiceSettings? { environments[name] }

    /// Those of the one that is selected now.
    public var settings: ServiceSettings { environments[selected] ?? ServiceSettings(baseURL: "") }

    /// The agent's `baseURL`: a place-holder that the `.environment` filter replaces. Its host is one that never exists
    /// (RFC 2606), so that without the filter nothing is sent anywhere.
    public var baseURL: String { Placeholder.base.directory }
    /// The agent's `cdnURL`, another place-holder.
    public var cdnURL: String { Placeholder.cdn.directory }

    private static func unknown(_ name: Name) -> URLFilterError {
        URLFilterError(.environment, filter: EnvironmentFilter.name, "there is no environment named \"\(name)\"")
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
