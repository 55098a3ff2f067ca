#if os(Linux)
import Errand
import ErrandEssentials

/// The URL of a request as libcurl gets it, and which of its requests may share connections.
struct RequestTarget: Sendable {
    let text: String
    let isSecure: Bool
    /// Scheme and authority, as they are written.
    let start: Substring.UTF8View

    /// Throws `invalidURL` for a host that libcurl is never given.
    init(_ url: URL) throws(ErrandError) {
        let text = url.absoluteString
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = text.utf8[scheme.endIndex...].dropFirst(Self.separator)
        let authority = rest.prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        if authority.count > HostCheck.short || authority.contains(UInt8(ascii: "%")) { try HostCheck.check(url) }
        self.text = text
        isSecure = scheme.count == Self.secureScheme
        start = text.utf8[..<authority.endIndex]
    }

    /// "://".
    private static let separator = 3
    /// Core lets http and https through and nothing else.
    private static let secureScheme = "https".utf8.count

    /// What is the same for all spellings of the scheme, the host and the port.
    var originName: String {
        let name = String(Substring(start)).lowercased()
        let port = isSecure ? ":443" : ":80"
        return name.hasSuffix(port) ? String(name.dropLast(port.count)) : name
    }
}
#endif
