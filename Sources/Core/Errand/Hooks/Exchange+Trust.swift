public import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax

extension Exchange {
    /// Whether the request goes to an origin that may see the agent's secrets: that of one of its base URLs, or one of
    /// its `trustedOrigins`. A path that is an absolute URL, such as a "next" link of a server's, may name another, and
    /// so may a redirect or a filter that moves the request.
    ///
    /// A filter that adds a secret adds it only if this is true.
    public var isTrusted: Bool {
        if isSettled { return trust.isTrusted }
        return OriginMove(from: givenRequest, to: http) == nil ? trust.isTrusted : settings.trusts(http.url)
    }

    /// Declares the request's origin one that may see the agent's secrets, and adds those that were withheld; for a
    /// filter that knows the service's origins better than the configuration does.
    ///
    /// A filter that moves requests from one origin of its service to another calls it after it has set the URL:
    ///
    /// ```swift
    /// struct Mirror: Filter {
    ///     let url: URL
    ///
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         var exchange = exchange
    ///         exchange.http.url = url
    ///         exchange.trustOrigin()
    ///         return try await next(exchange)
    ///     }
    /// }
    /// ```
    public mutating func trustOrigin() {
        settle(isQuiet: true)
        let (withheld, marks) = (trust.withheld, trust.withheldUsers)
        http.headers.merge(HTTPHeaders(withheld.filter { !http.headers.contains($0.name) }))
        if let marks { users = users?.union(marks) ?? marks }
        trust = OriginTrust()
        markSettled()
    }

    /// Sends the request to a URL that a server has named, such as the `Location` of an upload. As after a redirect, a
    /// request to another origin loses its sensitive header fields and `Host`, and ``isTrusted`` is decided anew.
    public mutating func follow(to url: URL) {
        let isSameOrigin = URLSyntax.origin(of: http.url) == URLSyntax.origin(of: url)
        http.url = url
        if isSameOrigin { return }
        http.headers.removeAll { $0.isSensitive || $0.name == .host }
        (trust, users) = (OriginTrust(isTrusted: settings.trusts(url)), nil)
        markSettled()
    }

    /// Takes the secrets of the given request away if the filter has moved the request to another origin that the agent
    /// does not trust, as a redirect does. What the filter has added for the new origin stays.
    ///
    /// Called for each request that a filter passes on, and before a filter vouches for an origin or names its user.
    ///
    /// - Parameter isQuiet: whether the filter is about to give the secrets back.
    mutating func settle(isQuiet: Bool = false) {
        if isSettled { return }
        let before = givenRequest
        if let move = OriginMove(from: before, to: http) {
            if settings.trusts(http.url) {
                trust.isTrusted = true
            } else {
                var (request, trust) = (http, trust)
                trust.isTrusted = false
                trust.withhold(from: &request, of: users, before: before)
                (http, self.trust, users) = (request, trust, nil)
                if !isQuiet, !move.secrets.isEmpty { reportLoss(move) }
            }
        }
        markSettled()
    }

    private func reportLoss(_ move: OriginMove) {
        note("origin", "a filter \(move.description)")
        #if DEBUG
        FilterWarnings.warn(about: request, [move.warning])
        #endif
    }
}

/// A request that a filter has moved to another origin (RFC 6454).
struct OriginMove: CustomStringConvertible {
    private let before, after: HTTPRequest

    /// Nil if the origin is the same. A host below `.invalid` is no origin: it stands for another, which replaces it.
    init?(from before: HTTPRequest, to after: HTTPRequest) {
        if URLSyntax.beginAlike(before.urlText, after.urlText) || before.host?.hasSuffix(".invalid") == true
            || URLSyntax.origin(of: before.url) == URLSyntax.origin(of: after.url)
        {
            return nil
        }
        (self.before, self.after) = (before, after)
    }

    /// The names of the fields that stay at the old origin.
    var secrets: [String] {
        var names: [String] = []
        for field in before.headers where field.isSensitive && !names.contains(field.name.rawName) {
            names.append(field.name.rawName)
        }
        return names
    }

    /// A clause about the filter, without a value.
    var description: String {
        "moves the request from \(Self.origin(before)) to \(Self.origin(after)), "
            + "which loses \(secrets.joined(separator: ", "))"
    }

    /// The same with what to do.
    var warning: String {
        "a filter \(description); \(Self.advice)"
    }

    static let advice = "add the origin to trustedOrigins, or add the credential in a filter that runs later"

    private static func origin(_ request: HTTPRequest) -> String { URLSyntax.origin(of: request.url) }
}
