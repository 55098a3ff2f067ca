#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandSupport

/// A request's URL in libcurl's form, and the identity of requests that may share its connections.
struct RequestTarget: Sendable {
    let text: String
    let isSecure: Bool
    /// Bytes in the scheme and the authority.
    private let startCount: Int

    /// Throws `invalidURL` for a host that must not reach libcurl.
    init(_ request: HTTPRequest) throws(ErrandError) {
        let text = request.urlText
        let (scheme, start, hasPercent) = text.withSpan { Self.split($0) }
        if start - scheme > HostCheck.short || hasPercent { try HostCheck.check(request.url) }
        self.text = text
        isSecure = scheme == Self.secureScheme
        startCount = start
    }

    /// Returns the lengths of the scheme and of the scheme with the authority, and whether the latter has a percent
    /// sign.
    private static func split(_ bytes: Span<UInt8>) -> (scheme: Int, start: Int, hasPercent: Bool) {
        let scheme = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
        var end = min(bytes.count, scheme + separator)
        var hasPercent = false
        while end < bytes.count {
            let byte = bytes[end]
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
            if byte == UInt8(ascii: "%") { hasPercent = true }
            end += 1
        }
        return (scheme, end, hasPercent)
    }

    /// "://".
    private static let separator = 3
    /// Core only accepts http and https.
    private static let secureScheme = "https".utf8.count

    /// Compares the spelling of scheme and authority.
    func hasSameStart(as other: RequestTarget) -> Bool {
        if startCount != other.startCount { return false }
        return text.withSpan { bytes in
            other.text.withSpan { bytes.extracting(..<startCount).hasSameBytes(as: $0.extracting(..<startCount)) }
        }
    }

    /// The origin, normalized.
    var originName: String {
        let name = String(decoding: text.utf8.prefix(startCount), as: UTF8.self).lowercased()
        let port = isSecure ? ":443" : ":80"
        return name.hasSuffix(port) ? String(name.dropLast(port.count)) : name
    }
}
#endif
