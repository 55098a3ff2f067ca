public import Errand
public import ErrandEssentials

/// A bearer token (RFC 6750) with everything that the next one requires.
///
/// ```swift
/// let token = BearerToken(access, expiry: Date(timeIntervalSinceNow: 3600), refreshToken: refresh)
/// ```
///
/// It is decoded from the response of an OAuth server (RFC 6749, section 5.1) as well as from its own encoding: see
/// ``init(from:)`` and ``renewing(_:)``.
public struct BearerToken: Credential, Hashable, Codable {
    enum CodingKeys: CodingKey { case token, expiry, refreshToken, owner, scope }

    /// The token in the `Authorization` header.
    public var token: String
    /// The date from which on it is refreshed before a request is sent; nil, the default, if only the server knows it.
    public var expiry: Date?
    /// The token for the request that gets the next one; nil by default.
    public var refreshToken: String?
    /// The user, for example an id; nil by default. See ``Credential/owner``.
    public var owner: String?
    /// The scope of the token, as an OAuth server names it, separated by spaces; nil, the default, if it is the
    /// requested one.
    public var scope: String?

    /// Makes a token.
    public init(
        _ token: String, expiry: Date? = nil, refreshToken: String? = nil, owner: String? = nil, scope: String? = nil
    ) {
        (self.token, self.expiry, self.refreshToken) = (token, expiry, refreshToken)
        (self.owner, self.scope) = (owner, scope)
    }

    /// Sets the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) { request.headers.authorize(.bearer(token)) }
    /// Whether the request carries the refresh token.
    public func isRenewed(by request: HTTPRequest) -> Bool { refreshToken.map(request.carries) ?? false }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme and the expiry, the tokens masked.
    public var description: String {
        "Bearer \(Redaction.mask)" + (expiry.map { ", until \($0)" } ?? "")
    }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// The expiry alone.
    public var customMirror: Mirror { Mirror(self, children: ["expiry": expiry as Any]) }
}

extension BearerToken {
    /// Decodes an encoded token, or the response of an OAuth server (RFC 6749, section 5.1): `access_token`,
    /// `token_type`, `expires_in`, `refresh_token` and `scope`.
    ///
    /// ```swift
    /// let token = try await agent.send(Call<BearerToken>(.post, "token")).value
    /// ```
    ///
    /// The expiry is `expires_in` seconds from now, by the clock of this machine; a number in quotes is accepted.
    /// Throws a `DecodingError` if there is no token or an empty one, and for a `token_type` other than `Bearer`, with
    /// which the token must not be used (RFC 6749, section 7.1). An empty `refresh_token` or `scope`, which the grammar
    /// does not allow (RFC 6749, appendix A), counts as left out.
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

    /// The same token, with the parts that a response may leave out, or leaves empty, taken from the token that it renews: the refresh
    /// token, which remains valid then (RFC 6749, section 6), the scope and the owner.
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
    /// Nil if there are no characters but spaces.
    fileprivate var unlessBlank: String? { self?.contains { $0 != " " } == true ? self : nil }
}

/// The members of a response, whose names a decoder may have converted from snake case.
private struct OAuthReply {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// A longer time makes no difference, and its date may not be encodable.
    private static let longest = Duration.seconds(Int64.max).bounded / .seconds(1)

    private let members: KeyedDecodingContainer<Name>

    init(_ decoder: any Decoder) throws { members = try decoder.container(keyedBy: Name.self) }

    /// The access token, which is never empty (RFC 6749, appendix A.12); nil if it is left out.
    func token() throws -> String? {
        guard let token = try text("access_token") else { return nil }
        if Optional(token).unlessBlank == nil { throw fault("access_token", "expected a token, found an empty text") }
        return token
    }

    func text(_ name: String) throws -> String? { try members.decodeIfPresent(String.self, forKey: key(name)) }

    func checkType() throws {
        guard let type = try text("token_type"), type.lowercased() != "bearer" else { return }
        throw fault("token_type", "expected Bearer")
    }

    func expiry() throws -> Date? {
        let key = key("expires_in")
        guard members.contains(key), try !members.decodeNil(forKey: key) else { return nil }
        let number = try? members.decode(Double.self, forKey: key)
        guard let seconds = try number ?? Double(members.decode(String.self, forKey: key)), seconds.isFinite else {
            throw fault("expires_in", "expected a number of seconds")
        }
        return Date(timeIntervalSinceNow: min(max(seconds, 0), Self.longest))
    }

    /// As text, or as a list, which some servers send.
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
