public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// The origins that may see an agent's secrets, beside those of its base URLs.
///
/// ```swift
/// agent.configure { $0.trustedOrigins = ["https://uploads.example.com", "https://api.example.com:8443"] }
/// ```
///
/// An origin is a scheme, a host and a port (RFC 6454); the case of the host and a default port do not matter. A path
/// is ignored, and text that is no http or https URL matches nothing.
public struct TrustedOrigins: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    private var origins: [String]?

    private init(origins: [String]?) { self.origins = origins }
    /// URLs of the origins.
    public init(_ urls: some Sequence<String>) {
        origins = urls.compactMap { text in
            guard (try? URLSyntax.check(text)) != nil else { return nil }
            return URL(string: text).map(URLSyntax.origin(of:))
        }
    }
    /// URLs of the origins.
    public init(arrayLiteral elements: String...) { self.init(elements) }

    /// Every origin: for an agent whose requests name URLs that no server has chosen.
    public static let any = TrustedOrigins(origins: nil)

    /// Whether the origin of a URL is one of these.
    public func contains(_ url: URL) -> Bool {
        guard let origins else { return true }
        return !origins.isEmpty && origins.contains(URLSyntax.origin(of: url))
    }

    /// The origins, with their ports.
    public var description: String { origins?.joined(separator: ", ") ?? "any" }
}
