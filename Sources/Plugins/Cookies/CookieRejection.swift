public import Errand
import ErrandEssentials

/// The reason why a cookie is rejected, by the sections of RFC 6265bis. Cases may be added: write a `default`.
public enum CookieRejection: String, Error, Sendable, Hashable {
    /// A control character other than a tab (5.6); in a cookie of the app also a character that ends a name or a value.
    case controlCharacter
    /// Neither a name nor a value (5.7).
    case empty
    /// Name and value are longer than 4096 bytes together (5.6).
    case tooLong
    /// The domain is neither that of the host nor one above it, or is invalid (5.7).
    case foreignDomain
    /// The domain is one below which anybody can register a name, such as `com` (5.7).
    case publicSuffix
    /// A secure cookie from a server that is not (5.7).
    case insecureOrigin
    /// The cookie would replace or hide a secure one, and comes from a server that is not secure (5.7).
    case shadowsSecureCookie
    /// `SameSite=None` without `Secure` (5.7).
    case sameSiteNoneWithoutSecure
    /// A name with the prefix `__Secure-` or `__Host-` without the attributes that it requires (5.4).
    case brokenPrefix
    /// A path that does not begin with a slash; for cookies that the app inserts.
    case invalidPath
    /// The URL has no host to set a cookie for.
    case noHost
    /// No name, and a value with a `=`, which the server would split into a name and a value (5.7).
    case namelessPair
}

extension CookieRejection: DescribedError {
    /// One sentence, without the cookie.
    public var description: String { "the cookie is not kept: \(rawValue)" }

    /// The place of the case, from 1; it never changes.
    public var errorCode: Int {
        switch self {
        case .controlCharacter: 1
        case .empty: 2
        case .tooLong: 3
        case .foreignDomain: 4
        case .publicSuffix: 5
        case .insecureOrigin: 6
        case .shadowsSecureCookie: 7
        case .sameSiteNoneWithoutSecure: 8
        case .brokenPrefix: 9
        case .invalidPath: 10
        case .noHost: 11
        case .namelessPair: 12
        }
    }
}
