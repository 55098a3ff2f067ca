public import Errand
public import ErrandEssentials
import ErrandMessageSyntax

/// The credential of a request: a token, a pair of tokens, or a signing key.
///
/// ```swift
/// nonisolated struct Tokens: Credential, Codable {
///     var access: String
///     var refresh: String
///     var expiry: Date?
///
///     func authorize(_ request: inout HTTPRequest) { request.headers.authorize(.bearer(access)) }
/// }
/// ```
///
/// Use ``BearerToken`` if it fits, or an ``Errand/Authorization`` for credentials that don't change. Every header field
/// that a credential adds is sensitive: logs mask it, and redirects to other origins remove it. Caches separate users
/// by everything the credential adds, in headers or elsewhere.
public protocol Credential: Sendable {
    /// Adds the credential to a request. Called for each request on the wire. If it throws, the request throws the
    /// error without being sent.
    func authorize(_ request: inout HTTPRequest) throws
    /// The date from which the credential is refreshed before a request is sent. Defaults to nil: only the server knows
    /// it.
    var expiry: Date? { get }
    /// The owner, for example the user's ID. It must stay the same when the user's credential is refreshed and differ
    /// between users.
    ///
    /// Responses in a cache are then found with the next credential. Defaults to nil: the parts added to the request
    /// tell users apart. If a credential signs each request with the time, it needs an owner, or no request finds a
    /// cached response.
    var owner: String? { get }
    /// Returns whether a request gets the next credential, for example because it carries a refresh token. Defaults to
    /// false.
    ///
    /// Called during a refresh. Such a request is sent without this credential and doesn't wait for the refresh, even
    /// if it comes from a task or queue that doesn't inherit the handler's context.
    ///
    /// ```swift
    /// func isRenewed(by request: HTTPRequest) -> Bool { request.carries(refresh) }
    /// ```
    func isRenewed(by request: HTTPRequest) -> Bool
}

extension Credential {
    /// The default implementation returns nil: only the server knows the expiry.
    public var expiry: Date? { nil }
    /// The default implementation returns nil: the parts that the credential adds to requests tell users apart.
    public var owner: String? { nil }
    /// The default implementation returns false.
    public func isRenewed(by request: HTTPRequest) -> Bool { false }
}

/// A credential whose added field is known in advance.
protocol FixedCredential: Credential {
    var field: HTTPHeaders.Field? { get }
}

extension FixedCredential {
    func fields(of authorization: Authorization) -> HTTPHeaders.Field? {
        var headers = HTTPHeaders()
        headers.authorize(authorization)
        return headers.first
    }
}

extension BearerToken: FixedCredential {
    var field: HTTPHeaders.Field? { fields(of: .bearer(token)) }
}

extension Authorization: FixedCredential {
    var field: HTTPHeaders.Field? { fields(of: self) }
}

/// Uses fixed credentials, such as a name and a password.
extension Authorization: Credential {
    /// Adds the credentials to a request, in the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) { request.headers.authorize(self) }
}

extension HTTPRequest {
    /// Returns whether a secret appears in the URL, a header field, or a body in memory of up to 64 KiB.
    ///
    /// Finds the whole secret, not part of a longer word, as it is, percent-encoded, or with JSON's escaped slashes.
    ///
    /// ```swift
    /// func isRenewed(by request: HTTPRequest) -> Bool { request.carries(refresh) }
    /// ```
    public func carries(_ secret: String) -> Bool {
        let secret = Array(secret.utf8)
        if secret.isEmpty { return false }
        if Self.contains(secret, in: Array(urlText.utf8)) { return true }
        if headers.contains(where: { Self.contains(secret, in: Array($0.value.utf8)) }) { return true }
        guard let data = body.data, data.count <= 65_536 else { return false }
        return Self.contains(secret, in: Array(data))
    }

    private static func contains(_ secret: [UInt8], in text: [UInt8]) -> Bool {
        if text.count < secret.count { return false }
        if occurs(secret, in: text) { return true }
        if text.contains(UInt8(ascii: "%")) {
            let plain = PercentEncoding.decodeLeniently(String(decoding: text, as: UTF8.self))
            if occurs(secret, in: Array(plain.utf8)) { return true }
        }
        guard text.contains(UInt8(ascii: "\\")) else { return false }
        return occurs(secret, in: text.filter { $0 != UInt8(ascii: "\\") })
    }

    private static func occurs(_ secret: [UInt8], in text: [UInt8]) -> Bool {
        var start = text.startIndex
        while let match = text[start...].firstRange(of: secret) {
            let before = match.lowerBound == 0 ? nil : text[match.lowerBound - 1]
            let after = match.upperBound == text.count ? nil : text[match.upperBound]
            if !isOfWord(before), !isOfWord(after) { return true }
            start = match.lowerBound + 1
        }
        return false
    }

    /// Returns whether a byte can be part of a token. Excludes delimiters such as `=` and `/`, although tokens can
    /// contain them.
    private static func isOfWord(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return ASCII.isUnreserved(byte) || byte == UInt8(ascii: "+") || byte >= 0x80
    }
}
