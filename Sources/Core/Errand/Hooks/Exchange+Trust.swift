public import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax

extension Exchange {
    /// Whether the request's origin may receive the agent's secrets: it's the origin of a base URL, or one of the
    /// `trustedOrigins`. Add a secret only if this is true.
    ///
    /// A request can lead to another origin if its path is an absolute URL, such as a server's "next" link. A redirect
    /// or a filter can also lead to another origin.
    public var isTrusted: Bool {
        if isOriginChecked { return trust.isTrusted }
        return OriginMove(from: givenRequest, to: http) == nil ? trust.isTrusted : settings.trusts(http.url)
    }

    /// Allows the request's origin to receive the agent's secrets, and adds the withheld secrets. Call it in a filter
    /// that knows more of the service's origins than the configuration does, after you set the URL:
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
        dropSecretsIfMoved(isQuiet: true)
        let (withheld, marks) = (trust.withheld, trust.withheldUsers)
        http.headers.merge(HTTPHeaders(withheld.filter { !http.headers.contains($0.name) }))
        if let marks {
            http.setQuery { URLSyntax.adding(queryItems: marks.queryItems, to: $0) }
            users = users?.union(marks) ?? marks
        }
        trust = OriginTrust()
        markOriginChecked()
    }

    /// Changes the request's URL to a URL that a server sent, such as the `Location` of an upload. If the origin
    /// changes, the request loses its sensitive header fields and `Host`, as after a redirect. Updates ``isTrusted``.
    public mutating func follow(to url: URL) {
        let isSameOrigin = URLSyntax.origin(of: http.url) == URLSyntax.origin(of: url)
        http.url = url
        if isSameOrigin { return }
        http.headers.removeAll { $0.isSensitive || $0.name == .host }
        (trust, users) = (OriginTrust(isTrusted: settings.trusts(url)), nil)
        markOriginChecked()
    }

    /// Removes secrets if the filter moved the request to an untrusted origin. Keeps fields that the filter added for
    /// the new origin.
    ///
    /// Called for each request that a filter passes on, and before a filter trusts an origin or declares its user.
    ///
    /// - Parameter isQuiet: Whether the filter is about to restore the secrets.
    mutating func dropSecretsIfMoved(isQuiet: Bool = false) {
        if isOriginChecked { return }
        let before = givenRequest
        if let move = OriginMove(from: before, to: http, queryItems: users?.queryItems ?? []) {
            if settings.trusts(http.url) {
                trust.isTrusted = true
            } else {
                var (request, trust) = (http, trust)
                trust.isTrusted = false
                trust.withhold(from: &request, of: users, before: before)
                request.setQuery { URLSyntax.removing(queryItems: move.queryItems, from: $0) }
                (http, self.trust, users) = (request, trust, nil)
                if !isQuiet, !move.secrets.isEmpty { reportLoss(move) }
            }
        }
        markOriginChecked()
    }

    private func reportLoss(_ move: OriginMove) {
        note("origin", "a filter \(move.description)")
        #if DEBUG
        FilterWarnings.warn(about: request, [move.warning])
        #endif
    }
}

extension HTTPRequest {
    fileprivate mutating func setQuery(_ change: (String) -> String) {
        let (old, new) = (urlText, change(urlText))
        if new != old, let url = URL(string: new, encodingInvalidCharacters: false) { self.url = url }
    }
}

/// A filter's move of a request to another origin (RFC 6454).
struct OriginMove: CustomStringConvertible {
    private let before, after: HTTPRequest
    let queryItems: [String]

    /// Fails if the origin is unchanged. Replacing a placeholder, which is a host below `.invalid`, doesn't count as a
    /// move.
    init?(from before: HTTPRequest, to after: HTTPRequest, queryItems: [String] = []) {
        if before.sharesURL(with: after) || URLSyntax.beginAlike(before.urlText, after.urlText)
            || before.host?.hasSuffix(".invalid") == true
            || URLSyntax.origin(of: before.url) == URLSyntax.origin(of: after.url)
        {
            return nil
        }
        (self.before, self.after, self.queryItems) = (before, after, queryItems)
    }

    var secrets: [String] {
        var names: [String] = []
        for field in before.headers where field.isSensitive && !names.contains(field.name.rawName) {
            names.append(field.name.rawName)
        }
        return names + queryItems.map { "the query item " + $0.prefix { $0 != "=" } }
    }

    var description: String {
        "moves the request from \(Self.origin(before)) to \(Self.origin(after)), "
            + "so these secrets are removed: \(secrets.joined(separator: ", "))"
    }

    var warning: String {
        "a filter \(description); \(Self.advice)"
    }

    static let advice = "add the origin to trustedOrigins, or add the credential in a filter that runs later"

    private static func origin(_ request: HTTPRequest) -> String { URLSyntax.origin(of: request.url) }
}
