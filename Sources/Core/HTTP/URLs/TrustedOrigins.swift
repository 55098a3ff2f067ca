public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// The origins that may receive an agent's secrets, in addition to the origins of its base URLs.
///
/// ```swift
/// agent.configure { $0.trustedOrigins = ["https://uploads.example.com", "https://api.example.com:8443"] }
/// ```
///
/// An origin is a scheme, a host and a port (RFC 6454). The case of the host, a default port and a path are ignored.
/// Text that isn't an http or https URL matches no origin.
public struct TrustedOrigins: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    private var origins: [String]?

    private init(origins: [String]?) { self.origins = origins }
    /// Trusts the origins of URLs.
    public init(_ urls: some Sequence<String>) {
        origins = urls.compactMap { text in
            guard (try? URLSyntax.check(text)) != nil else { return nil }
            return URL(string: text).map(URLSyntax.origin(of:))
        }
    }
    /// Trusts the origins of URLs.
    public init(arrayLiteral elements: String...) { self.init(elements) }

    /// Trusts every origin. Use it only for an agent whose URLs are never chosen by a server.
    public static let any = TrustedOrigins(origins: nil)

    /// Returns whether a URL's origin is trusted.
    public func contains(_ url: URL) -> Bool {
        guard let origins else { return true }
        return !origins.isEmpty && origins.contains(URLSyntax.origin(of: url))
    }

    /// The origins, including ports.
    public var description: String { origins?.joined(separator: ", ") ?? "any" }
}
