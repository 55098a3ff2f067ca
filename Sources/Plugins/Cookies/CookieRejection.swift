public import Errand
import ErrandEssentials

/// The reason why a jar rejected a cookie, with the section of RFC 6265bis.
///
/// New cases may be added, so write a `default`.
public enum CookieRejection: String, Error, Sendable, Hashable {
    /// The cookie contains a control character other than a tab, or, if your app created it, a character that ends a
    /// name or value (5.6).
    case controlCharacter
    /// The cookie has neither a name nor a value (5.7).
    case empty
    /// The name and value together exceed ``CookieLimits/maximumNameAndValueBytes`` (5.6).
    case tooLong
    /// The domain is invalid, or is neither the host nor one of its parent domains (5.7).
    case foreignDomain
    /// The domain is a public suffix, such as `com` (5.7).
    case publicSuffix
    /// A `Secure` cookie arrived over an insecure connection (5.7).
    case insecureOrigin
    /// A cookie that arrived over an insecure connection would replace or hide a secure one (5.7).
    case shadowsSecureCookie
    /// The cookie has `SameSite=None` without `Secure` (5.7).
    case sameSiteNoneWithoutSecure
    /// The name begins with `__Secure-` or `__Host-`, but the cookie lacks the required attributes (5.4).
    case brokenPrefix
    /// The path of a cookie that your app created doesn't begin with a slash.
    case invalidPath
    /// The URL lacks a host, or the domain of a cookie that your app created isn't a host name.
    case noHost
    /// The cookie consists of a value that a server would split into a name and a value at its `=` (5.7).
    case namelessPair
}

extension CookieRejection: DescribedError {
    /// One sentence, without the cookie.
    public var description: String { "the cookie was rejected: \(rawValue)" }

    /// The position of the case, starting at 1. It never changes.
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
