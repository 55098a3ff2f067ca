public import Errand
public import ErrandEssentials
import ErrandMessageSyntax

/// A credential that a session adds to requests: for example, a token, a pair of tokens, or a signing key.
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
/// For bearer tokens, you can use ``BearerToken``. For credentials that don't change, use ``Errand/Authorization``.
/// Logs mask every header field that a credential adds, and redirects to other origins remove these fields. Caches
/// separate users by all parts that a credential adds to a request.
public protocol Credential: Sendable {
    /// Adds the credential to a request on the wire. If it throws, the request isn't sent.
    func authorize(_ request: inout HTTPRequest) throws
    /// When to refresh the credential. Defaults to nil, which means that only the server knows.
    var expiry: Date? { get }
    /// The credential's owner, for example the user's ID. The owner must differ between users, and stay the same after
    /// a refresh.
    ///
    /// With an owner, caches still find a user's responses after a refresh. Defaults to nil. Caches then tell users
    /// apart by the parts that the credential adds to requests. If a credential signs the current time into each
    /// request, these parts always differ, so no request finds a cached response unless the credential has an owner.
    var owner: String? { get }
    /// Returns whether a request fetches the next credential, for example because the request carries a refresh token.
    /// The default returns false.
    ///
    /// The session calls this method during a refresh. If it returns true, the request is sent without the credential
    /// and doesn't wait for the refresh. This also works in a detached task or a queue, which doesn't inherit the
    /// handler's context.
    ///
    /// ```swift
    /// func isRenewed(by request: HTTPRequest) -> Bool { request.carries(refresh) }
    /// ```
    func isRenewed(by request: HTTPRequest) -> Bool
}

extension Credential {
    /// Nil.
    public var expiry: Date? { nil }
    /// Nil.
    public var owner: String? { nil }
    /// Returns false.
    public func isRenewed(by request: HTTPRequest) -> Bool { false }
}

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

extension Authorization: Credential {
    /// Sets the `Authorization` header.
    public func authorize(_ request: inout HTTPRequest) { request.headers.authorize(self) }
}

extension HTTPRequest {
    /// Returns whether the URL, a header field, or a body of up to 64 KiB in memory contains a secret.
    ///
    /// Finds the secret only as a whole word. The secret can be unchanged, percent-encoded, or written with JSON's
    /// escaped slashes.
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

    /// Delimiters such as `=` and `/` separate words, although tokens can contain them.
    private static func isOfWord(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return ASCII.isUnreserved(byte) || byte == UInt8(ascii: "+") || byte >= 0x80
    }
}
