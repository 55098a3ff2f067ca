public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// The origins that may receive an agent's secrets, in addition to the origins of its base URLs.
///
/// ```swift
/// agent.configure { $0.trustedOrigins = ["https://uploads.example.com", "https://api.example.com:8443"] }
/// ```
///
/// An origin is a scheme, a host and a port (RFC 6454). The host's case, the spelling of an address, a default port and
/// a path don't matter. Text that isn't an http or https URL matches no origin.
public struct TrustedOrigins: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    private var origins: [String]?

    private init(origins: [String]?) { self.origins = origins }
    /// Creates a set of the origins of URLs.
    public init(_ urls: some Sequence<String>) {
        origins = urls.compactMap(URLSyntax.origin(ofText:))
    }
    /// Creates a set of the origins of URLs, such as `["https://cdn.example.com"]`.
    public init(arrayLiteral elements: String...) { self.init(elements) }

    /// Every origin. Use it only for an agent whose URLs a server never chooses.
    public static let any = TrustedOrigins(origins: nil)

    /// Returns whether a URL's origin is trusted.
    public func contains(_ url: URL) -> Bool {
        guard let origins else { return true }
        return !origins.isEmpty && origins.contains(URLSyntax.origin(of: url))
    }

    /// The origins with their ports, separated by commas.
    public var description: String { origins?.joined(separator: ", ") ?? "any" }
}

/// Whether a request may have the agent's secrets, and the withheld secrets.
package struct OriginTrust: Sendable {
    package var isTrusted: Bool
    package private(set) var withheld = HTTPHeaders()
    package private(set) var withheldUsers: UserMarks?

    package init(isTrusted: Bool = true) { self.isTrusted = isTrusted }

    package mutating func withhold(from headers: inout HTTPHeaders) {
        withheld.merge(HTTPHeaders(headers.filter(\.isSensitive)))
        headers.removeAll { $0.isSensitive || $0.name == .host }
    }

    /// Withholds the secrets of a request that moved to another origin. Keeps fields that the filter added for the new
    /// origin.
    package mutating func withhold(from request: inout HTTPRequest, of users: UserMarks?, before: HTTPRequest) {
        let old = before.headers
        let names = Set(old.lazy.filter { $0.isSensitive || $0.name == .host }.map(\.name))
        let isOld = { (field: HTTPHeaders.Field) in
            names.contains(field.name)
                && (old.contains { $0.hasSameText(as: field) }
                    || old[field.name]?.hasSameBytes(as: field.value) == true)
        }
        // The filter may have removed the fields' sensitive marks.
        withheld.merge(HTTPHeaders(old.filter(\.isSensitive)))
        withheldUsers = users ?? withheldUsers
        if request.headers.contains(where: isOld) { request.headers.removeAll(where: isOld) }
    }
}
