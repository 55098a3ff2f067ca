public import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax

extension Exchange {
    /// Whether the request goes to an origin that may see the agent's secrets: that of one of its base URLs, or one of
    /// its `trustedOrigins`. A path that is an absolute URL, such as a "next" link of a server's, may name another.
    ///
    /// A filter that adds a secret adds it only where this is true. A filter that sends the request elsewhere leaves it
    /// as it is; a redirect to another origin sets it anew.
    public var isTrusted: Bool { trust.isTrusted }

    /// Declares the request's origin one that may see the agent's secrets, and adds those that were withheld; for a
    /// filter that knows the service's origins better than the configuration does.
    public mutating func trustOrigin() {
        let withheld = trust.withheld
        http.headers.merge(HTTPHeaders(withheld.filter { !http.headers.contains($0.name) }))
        trust = OriginTrust()
    }

    /// Sends the request to a URL that a server has named, such as the `Location` of an upload. As after a redirect, a
    /// request to another origin loses its sensitive header fields and `Host`, and ``isTrusted`` is decided anew.
    public mutating func follow(to url: URL) {
        let isSameOrigin = URLSyntax.origin(of: http.url) == URLSyntax.origin(of: url)
        http.url = url
        if isSameOrigin { return }
        http.headers.removeAll { $0.isSensitive || $0.name == .host }
        (trust, users) = (OriginTrust(isTrusted: settings.trusts(url)), nil)
    }
}
