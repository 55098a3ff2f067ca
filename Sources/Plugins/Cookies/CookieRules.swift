import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// The server that sets cookies, or receives them.
struct CookieOrigin {
    let host: String
    let path: String
    let isSecure: Bool

    /// Nil for a URL without a host.
    init?(_ url: URL) {
        guard let host = Self.host(of: url) else { return nil }
        self.init(host, url)
    }

    init(_ host: String, _ url: URL) {
        self.host = host
        path = url.path(percentEncoded: true)
        isSecure = url.scheme?.lowercased() == "https"
    }

    /// The host in the text of an absolute URL; nil where that takes a parser: not in lower case, in brackets, encoded,
    /// behind a user's name.
    static func plainHost(in text: String) -> String? {
        text.withSpan { bytes -> String? in
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes.count > colon + 3,
                bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/")
            else { return nil }
            var end = colon + 3
            while end < bytes.count, isPlain(bytes[end]) { end += 1 }
            let host = bytes.extracting((colon + 3)..<end)
            if end < bytes.count, bytes[end] == UInt8(ascii: ":") { end += 1 }
            while end < bytes.count, ASCII.isDigit(bytes[end]) { end += 1 }
            let isWhole = end == bytes.count || bytes[end] == UInt8(ascii: "/") || bytes[end] == UInt8(ascii: "?")
            return isWhole && !host.isEmpty ? String(decoding: host) : nil
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") || ASCII.isDigit(byte) || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "-")
    }

    /// In lower case; nil for a URL without a host.
    static func host(of url: URL) -> String? {
        guard let host = url.host, !host.isEmpty else { return nil }
        return host.utf8.contains { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") } ? host.lowercased() : host
    }

    /// Where cookies without a path are sent (RFC 6265bis, section 5.1.4).
    var defaultPath: String {
        guard path.utf8.first == UInt8(ascii: "/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            slash > path.startIndex
        else { return "/" }
        return String(path[..<slash])
    }
}

/// When two hosts and two paths are meant to be the same.
enum CookieRules {
    /// Whether a host is a domain or lies below it (RFC 6265bis, section 5.1.3). An address lies below nothing.
    static func matches(host: String, domain: String) -> Bool {
        let (host, domain) = (host.utf8, domain.utf8)
        if host.count == domain.count { return host.elementsEqual(domain) }
        guard host.count > domain.count + 1, !domain.isEmpty else { return false }
        let end = host.suffix(domain.count + 1)
        return end.first == UInt8(ascii: ".") && end.dropFirst().elementsEqual(domain)
            && !HostName.isAddress(String(host))
    }

    /// The domains that a host lies below, the longest first; none that is longer than a name can be (RFC 1035, section
    /// 2.3.4). Without that limit all of them together would have the square of the host's length.
    static func domains(above host: String) -> some Sequence<String> {
        sequence(state: host.utf8[...]) { rest in
            while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
                rest = rest[rest.index(after: dot)...]
                if rest.count <= longestName { return String(Substring(rest)) }
            }
            return nil
        }
    }

    /// With the dot that ends an absolute name.
    private static let longestName = 254

    /// Whether a path is a cookie's or lies below it (section 5.1.4).
    static func matches(path: String, cookiePath: String) -> Bool {
        let (path, cookiePath) = (path.isEmpty ? "/" : path, cookiePath)
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        if path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == UInt8(ascii: "/") { return true }
        return path.utf8[path.utf8.index(path.utf8.startIndex, offsetBy: cookiePath.utf8.count)] == UInt8(ascii: "/")
    }

    /// Throws for a name whose prefix promises what the cookie does not keep (section 5.4), also where the prefix stands in the
    /// value of a cookie without a name.
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
