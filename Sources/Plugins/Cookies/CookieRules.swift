public import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

struct CookieOrigin {
    let host: String
    let path: String
    /// Whether the connection is secure. Also true for a connection that stays on this device.
    let isSecure: Bool

    init?(_ url: URL) {
        guard let host = Self.host(of: url) else { return nil }
        self.init(host, url)
    }

    init(_ host: String, _ url: URL) {
        self.host = host
        path = url.path(percentEncoded: true)
        let scheme = url.scheme?.lowercased()
        isSecure = scheme == "https" || scheme == "wss" || Self.loopbackHosts.contains(host)
    }

    /// The hosts on this device. RFC 6265bis leaves it to clients which connections are secure. curl, Chromium and
    /// Firefox accept these hosts.
    private static let loopbackHosts: Set<String> = ["localhost", "127.0.0.1", "::1"]

    /// Reads an ordinary URL faster than `URL` does. Fails for user information, or unusual characters in the scheme,
    /// host or path.
    init?(plain text: String) {
        let parts = text.withSpan { bytes -> (host: String, path: String, isSecure: Bool)? in
            let isSecure = "https://".withSpan { bytes.starts(with: $0) }
            guard isSecure || "http://".withSpan({ bytes.starts(with: $0) }) else { return nil }
            let begin = isSecure ? 8 : 7
            var end = begin
            while end < bytes.count, Self.isPlain(bytes[end]) { end += 1 }
            let host = bytes.extracting(begin..<end)
            if end < bytes.count, bytes[end] == UInt8(ascii: ":") { end += 1 }
            while end < bytes.count, ASCII.isDigit(bytes[end]) { end += 1 }
            let start = end
            while end < bytes.count, Self.isOfPath(bytes[end]) { end += 1 }
            let path = bytes.extracting(start..<end)
            let isWhole = end == bytes.count || bytes[end] == UInt8(ascii: "?") || bytes[end] == UInt8(ascii: "#")
            guard isWhole, !host.isEmpty, path.isEmpty || path[0] == UInt8(ascii: "/") else { return nil }
            return (String(decoding: host), String(decoding: path), isSecure)
        }
        guard let parts else { return nil }
        // The host is in lowercase, and an IPv4 address begins with a digit. `comparable` takes 1,000 instructions.
        let mayBeAddress = parts.host.utf8.first.map(ASCII.isDigit) ?? false
        (host, path) = (mayBeAddress ? HostName.comparable(parts.host) : parts.host, parts.path)
        isSecure = parts.isSecure || Self.loopbackHosts.contains(host)
    }

    private static func isOfPath(_ byte: UInt8) -> Bool {
        ASCII.isUnreserved(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "%")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") || ASCII.isDigit(byte) || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "-")
    }

    static func host(of url: URL) -> String? {
        guard let host = url.host, !host.isEmpty else { return nil }
        return HostName.comparable(host)
    }

    /// The path of a cookie without a `Path` attribute (RFC 6265bis, section 5.1.4).
    var defaultPath: String {
        guard path.utf8.first == UInt8(ascii: "/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            slash > path.startIndex
        else { return "/" }
        return String(path[..<slash])
    }
}

enum CookieRules {
    /// Whether a cookie's domain covers a host (RFC 6265bis, section 5.1.3). An IP address matches only itself.
    static func matches(host: String, domain: String) -> Bool {
        let (host, domain) = (host.utf8, domain.utf8)
        if host.count == domain.count { return host.elementsEqual(domain) }
        guard host.count > domain.count + 1, !domain.isEmpty else { return false }
        let end = host.suffix(domain.count + 1)
        return end.first == UInt8(ascii: ".") && end.dropFirst().elementsEqual(domain)
            && !HostName.isAddress(String(host))
    }

    static func domains(of host: String) -> [String] {
        HostName.isAddress(host) ? [host] : [host] + domains(above: host).filter { !$0.isEmpty }
    }

    /// Returns the domains above a host, longest first. Skips names longer than DNS allows (RFC 1035, section 2.3.4),
    /// so the total length of the names isn't quadratic.
    static func domains(above host: String) -> some Sequence<String> {
        sequence(state: host.utf8[...]) { rest in
            while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
                rest = rest[rest.index(after: dot)...]
                if rest.count <= longestName { return String(Substring(rest)) }
            }
            return nil
        }
    }

    /// The maximum length of a name in bytes, including the trailing dot of an absolute name.
    private static let longestName = 254

    /// Whether a cookie's path covers a request's path (section 5.1.4).
    static func matches(path: String, cookiePath: String) -> Bool {
        (path.isEmpty ? "/" : path).withSpan { path in
            cookiePath.withSpan { cookiePath in
                guard path.starts(with: cookiePath) else { return false }
                let (slash, end) = (UInt8(ascii: "/"), cookiePath.count)
                return path.count == end || end > 0 && cookiePath[end - 1] == slash || path[end] == slash
            }
        }
    }

    /// Checks the attributes that a prefix such as `__Host-` requires (section 5.4). For a cookie without a name,
    /// checks the value.
    static func checkPrefix(of cookie: Cookie, hasPath: Bool) throws(CookieRejection) {
        let name = cookie.name.isEmpty ? cookie.value : cookie.name
        let isSecure = begins(name, with: "__Secure-")
        let isHost = begins(name, with: "__Host-")
        guard isSecure || isHost else { return }
        if cookie.name.isEmpty || !cookie.isSecure { throw .brokenPrefix }
        if isHost, !cookie.isHostOnly || !hasPath || cookie.path != "/" { throw .brokenPrefix }
    }

    private static func begins(_ text: String, with prefix: String) -> Bool {
        ASCII.equalsIgnoringCase(String(decoding: text.utf8.prefix(prefix.utf8.count), as: UTF8.self), prefix)
    }
}

/// Why a jar rejected a cookie. Numbers in parentheses are sections of RFC 6265bis.
///
/// New cases may be added, so write a `default`.
public enum CookieRejection: String, Error, Sendable, Hashable {
    /// The cookie contains a control character other than a tab (5.6). For a cookie that your app created, also: it
    /// contains a character that ends a name or value.
    case controlCharacter
    /// The cookie has neither a name nor a value (5.7).
    case empty
    /// The name and value together exceed ``CookieLimits/maximumNameAndValueBytes`` (5.6).
    case tooLong
    /// The domain is invalid, or it's neither the host nor one of the host's parent domains (5.7).
    case foreignDomain
    /// The domain is a public suffix, such as `com` (5.7).
    case publicSuffix
    /// A `Secure` cookie arrived over an insecure connection (5.7).
    case insecureOrigin
    /// A cookie that arrived over an insecure connection would replace or hide a secure cookie (5.7).
    case shadowsSecureCookie
    /// The cookie has `SameSite=None` without `Secure` (5.7).
    case sameSiteNoneWithoutSecure
    /// The name begins with `__Secure-` or `__Host-`, but the cookie lacks the required attributes (5.4).
    case brokenPrefix
    /// The path of a cookie that your app created doesn't begin with a slash.
    case invalidPath
    /// The URL lacks a host, or the domain of a cookie that your app created isn't a host name.
    case noHost
    /// The cookie has no name, and a server would split its value into a name and a value at the `=` (5.7).
    case namelessPair
}

extension CookieRejection: DescribedError {
    /// The case and the rule that the cookie breaks, without the cookie.
    public var description: String { "\(rawValue): \(reason)" }

    private var reason: String {
        switch self {
        case .controlCharacter: "the cookie contains a control character, or a character that ends a name or value"
        case .empty: "the cookie has neither a name nor a value"
        case .tooLong: "the cookie's name and value are longer than the limit"
        case .foreignDomain: "the cookie's domain is neither the host nor a parent domain"
        case .publicSuffix: "the cookie's domain is a public suffix"
        case .insecureOrigin: "a Secure cookie arrived over an insecure connection"
        case .shadowsSecureCookie: "a cookie from an insecure connection would replace or hide a Secure cookie"
        case .sameSiteNoneWithoutSecure: "the cookie has SameSite=None without Secure"
        case .brokenPrefix: "the cookie lacks the attributes that its __Secure- or __Host- prefix requires"
        case .invalidPath: "the cookie's path doesn't begin with a slash"
        case .noHost: "the URL has no host, or the cookie's domain isn't a host name"
        case .namelessPair: "the cookie has no name, and its value contains \"=\""
        }
    }

    /// The code of the `NSError`, a stable number that starts at 1.
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
