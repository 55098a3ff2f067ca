public import Errand
public import ErrandEssentials
import ErrandMessageSyntax

/// A bearer token (RFC 6750), along with everything needed to renew it.
///
/// ```swift
/// let token = BearerToken(access, expiry: Date(timeIntervalSinceNow: 3600), refreshToken: refresh)
/// ```
///
/// You can decode it from its own encoding or from an OAuth server's response (RFC 6749, section 5.1): see
/// ``init(from:)`` and ``renewing(_:)``.
public struct BearerToken: Credential, Hashable, Codable {
    enum CodingKeys: CodingKey { case token, expiry, refreshToken, owner, scope }

    /// The token in the `Authorization` header.
    public var token: String
    /// The date from which the token is refreshed before a request is sent. Defaults to nil: only the server knows it.
    public var expiry: Date?
    /// The token for requesting the next one. Defaults to nil.
    public var refreshToken: String?
    /// The user, for example an ID. Defaults to nil. See ``Credential/owner``.
    public var owner: String?
    /// The scope of the token as the OAuth server names it, separated by spaces. Defaults to nil: the requested scope.
    public var scope: String?

    /// Creates a token.
    public init(
        _ token: String, expiry: Date? = nil, refreshToken: String? = nil, owner: String? = nil, scope: String? = nil
    ) {
        (self.token, self.expiry, self.refreshToken) = (token, expiry, refreshToken)
        (self.owner, self.scope) = (owner, scope)
    }

    /// Sets the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) { request.headers.authorize(.bearer(token)) }
    /// Returns whether the request carries the refresh token.
    public func isRenewed(by request: HTTPRequest) -> Bool { refreshToken.map(request.carries) ?? false }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme and expiry. Tokens are masked.
    public var description: String {
        "Bearer \(Redaction.mask)" + (expiry.map { ", until \($0)" } ?? "")
    }
    /// The same text as `description`, so a dump doesn't reveal tokens.
    public var debugDescription: String { description }
    /// The expiry only.
    public var customMirror: Mirror { Mirror(self, children: ["expiry": expiry as Any]) }
}

extension BearerToken {
    /// Decodes an encoded token or the response of an OAuth server (RFC 6749, section 5.1): `access_token`,
    /// `token_type`, `expires_in`, `refresh_token` and `scope`.
    ///
    /// ```swift
    /// let token = try await agent.send(Call<BearerToken>(.post, "token")).value
    /// ```
    ///
    /// The token expires `expires_in` seconds from now, by the device's clock. A number in quotes is accepted. Zero or
    /// less counts as an unknown lifetime, because some servers send it for tokens that don't expire. Empty
    /// `token_type`, `refresh_token` and `scope` members, which the grammar doesn't allow (RFC 6749, appendix A), are
    /// ignored.
    ///
    /// Throws a `DecodingError` if the token is missing or empty, or if `token_type` isn't `Bearer`, because such a
    /// token must not be used (RFC 6749, section 7.1).
    public init(from decoder: any Decoder) throws {
        let reply = try OAuthReply(decoder)
        if let token = try reply.token() {
            try reply.checkType()
            self.init(
                token, expiry: try reply.expiry(), refreshToken: try reply.text("refresh_token").unlessBlank,
                scope: try reply.scope())
            return
        }
        let own = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try own.decode(String.self, forKey: .token), expiry: try own.decodeIfPresent(Date.self, forKey: .expiry),
            refreshToken: try own.decodeIfPresent(String.self, forKey: .refreshToken),
            owner: try own.decodeIfPresent(String.self, forKey: .owner),
            scope: try own.decodeIfPresent(String.self, forKey: .scope))
    }

    /// Returns this token with missing or empty parts taken from the token it renews: the refresh token, which then
    /// remains valid (RFC 6749, section 6), the scope and the owner.
    ///
    /// ```swift
    /// let new = BearerToken("b").renewing(BearerToken("a", refreshToken: "r"))  // b with the refresh token r
    /// ```
    public func renewing(_ old: BearerToken) -> BearerToken {
        BearerToken(
            token, expiry: expiry, refreshToken: refreshToken.unlessBlank ?? old.refreshToken,
            owner: owner.unlessBlank ?? old.owner, scope: scope.unlessBlank ?? old.scope)
    }
}

extension String? {
    fileprivate var unlessBlank: String? { self?.contains { $0 != " " } == true ? self : nil }
}

/// The members of a response. A decoder may have converted their names from snake case.
private struct OAuthReply {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Longer times make no difference, and their dates may not be encodable.
    private static let longest = Duration.seconds(Int64.max).bounded / .seconds(1)

    private let members: KeyedDecodingContainer<Name>

    init(_ decoder: any Decoder) throws { members = try decoder.container(keyedBy: Name.self) }

    /// The access token, or nil if it's missing. Throws if it's empty, which RFC 6749, appendix A.12, doesn't allow.
    func token() throws -> String? {
        guard let token = try text("access_token") else { return nil }
        if Optional(token).unlessBlank == nil { throw fault("access_token", "expected a token, found an empty text") }
        return token
    }

    func text(_ name: String) throws -> String? { try members.decodeIfPresent(String.self, forKey: key(name)) }

    func checkType() throws {
        guard let type = try text("token_type").unlessBlank, type.lowercased() != "bearer" else { return }
        throw fault("token_type", "expected Bearer")
    }

    func expiry() throws -> Date? {
        let key = key("expires_in")
        guard members.contains(key), try !members.decodeNil(forKey: key) else { return nil }
        let number = try? members.decode(Double.self, forKey: key)
        guard let seconds = try number ?? Self.decimal(members.decode(String.self, forKey: key)), seconds.isFinite
        else { throw fault("expires_in", "expected a number of seconds") }
        // Servers send zero or less for tokens that don't expire.
        return seconds > 0 ? Date(timeIntervalSinceNow: min(seconds, Self.longest)) : nil
    }

    /// `Double` also reads hexadecimal digits and names such as `inf`.
    private static func decimal(_ text: String) -> Double? {
        text.utf8.allSatisfy { ASCII.isDigit($0) || "+-.eE".utf8.contains($0) } ? Double(text) : nil
    }

    /// Also accepts a list, which some servers send.
    func scope() throws -> String? {
        if let list = try? members.decode([String].self, forKey: key("scope")) {
            return Optional(list.filter { !$0.isEmpty }.joined(separator: " ")).unlessBlank
        }
        return try text("scope").unlessBlank
    }

    private func key(_ name: String) -> Name {
        let plain = Name(stringValue: name)
        if members.contains(plain) { return plain }
        let words = name.split(separator: "_")
        return Name(
            stringValue: words.prefix(1).joined()
                + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
    }

    private func fault(_ name: String, _ reason: String) -> DecodingError {
        DecodingError.dataCorruptedError(forKey: key(name), in: members, debugDescription: reason)
    }
}
