#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandSupport

/// A request's URL in libcurl's form, and the identity of requests that may share its connections.
struct RequestTarget: Sendable {
    let text: String
    let isSecure: Bool
    private let startCount: Int

    init(_ request: HTTPRequest) throws(ErrandError) {
        let text = request.urlText
        let (scheme, start, hasPercent) = text.withSpan { Self.split($0) }
        if start - scheme > HostCheck.short || hasPercent { try HostCheck.check(request.url) }
        self.text = text
        isSecure = scheme == Self.secureScheme
        startCount = start
    }

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

    private static let separator = 3
    private static let secureScheme = "https".utf8.count

    func hasSameStart(as other: RequestTarget) -> Bool {
        if startCount != other.startCount { return false }
        return text.withSpan { bytes in
            other.text.withSpan { bytes.extracting(..<startCount).hasSameBytes(as: $0.extracting(..<startCount)) }
        }
    }

    var originName: String {
        let name = String(decoding: text.utf8.prefix(startCount), as: UTF8.self).lowercased()
        let port = isSecure ? ":443" : ":80"
        return name.hasSuffix(port) ? String(name.dropLast(port.count)) : name
    }
}

enum HostCheck {
    /// The maximum length of a DNS name, with dots (RFC 1035, section 2.3.4). With a SOCKS5 proxy and a name of more
    /// than 255 bytes, libcurl 7.69 to 8.3 overflow a buffer (CVE-2023-38545).
    static let longest = 253
    /// Names up to this length need a check only if they contain a percent sign.
    static let short = 60

    /// Checks the URL's host. Rejects percent-encoded ASCII, because libcurl 7.80 to 7.83 take `%2F` for the start of a
    /// path (CVE-2022-27780).
    static func check(_ url: URL) throws(ErrandError) {
        guard let host = url.host(percentEncoded: true) else { return }
        guard host.utf8.count > short || host.utf8.contains(UInt8(ascii: "%")) else { return }
        // An IPv6 address may have a zone after a percent sign.
        if host.utf8.contains(UInt8(ascii: ":")) { return }
        let name = Array(host.utf8)
        for index in name.indices where name[index] == UInt8(ascii: "%") && index + 1 < name.count {
            if name[index + 1] < UInt8(ascii: "8") { throw refusal("has a percent-encoded ASCII character") }
        }
        if name.count > longest && !name.contains(UInt8(ascii: "%")) {
            throw refusal("has \(name.count) bytes; the maximum is \(longest)")
        }
        if name.count > 3 * longest { throw refusal("is too long") }
    }

    private static func refusal(_ reason: String) -> ErrandError {
        ErrandError(.invalidURL, "the URL's host \(reason)")
    }
}
#endif
