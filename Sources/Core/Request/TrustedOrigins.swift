import ErrandSupport

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The origins that may see an agent's secrets, beside those of its base URLs.
///
/// ```swift
/// agent.configure { $0.trustedOrigins = ["https://uploads.example.com", "https://api.example.com:8443"] }
/// ```
///
/// An origin is a scheme, a host and a port (RFC 6454); the case of the host and a default port do not matter. A path is
/// ignored, and what is no http or https URL matches nothing.
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

    /// Every origin: for an agent whose requests name URLs that no server chose.
    public static let any = TrustedOrigins(origins: nil)

    /// Whether the origin of a URL is one of these.
    public func contains(_ url: URL) -> Bool {
        guard let origins else { return true }
        return !origins.isEmpty && origins.contains(URLSyntax.origin(of: url))
    }

    /// The origins, with their ports.
    public var description: String { origins?.joined(separator: ", ") ?? "any" }
}

extension Exchange {
    /// Whether the request goes to an origin that may see the agent's secrets: that of its base or CDN URL, or one of
    /// its `trustedOrigins`. A path that is an absolute URL, such as a "next" link of a server's, may name another.
    ///
    /// A filter that adds a secret adds it only where this is true. A filter that sends the request elsewhere leaves it
    /// as it is; a redirect to another origin sets it anew.
    public var isTrusted: Bool { trust.isTrusted }

    /// Declares the request's origin one that may see the agent's secrets, and adds those that were withheld; for a filter
    /// that knows the service's origins better than the configuration does.
    public mutating func trustOrigin() {
        let withheld = trust.withheld
        http.headers.merge(HTTPHeaders(withheld.filter { !http.headers.contains($0.name) }))
        trust = OriginTrust()
    }
}

/// Whether a request may carry the agent's secrets, and those that it was built without.
struct OriginTrust: Sendable {
    var isTrusted = true
    var withheld = HTTPHeaders()
}

/// What the builder makes of a request.
struct BuiltRequest: Sendable {
    var http: HTTPRequest
    var trust = OriginTrust()
}

extension AgentSettings {
    /// Whether a URL has the origin of the base URL, the CDN's or a trusted one.
    func trusts(_ url: URL) -> Bool {
        for base in [base, cdn] {
            if case .success(let base) = base, base.isOrigin(of: url) { return true }
        }
        return configuration.trustedOrigins.contains(url)
    }
}
