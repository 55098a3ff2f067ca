#if os(Linux) || os(Android)
import Errand
import ErrandEssentials

/// Rejects host names that must not reach libcurl.
enum HostCheck {
    /// The longest DNS name with dots (RFC 1035, section 2.3.4). libcurl 7.69 to 8.3 overflow a buffer if a SOCKS5
    /// proxy gets more than 255 bytes (CVE-2023-38545).
    static let longest = 253
    /// Shorter names without a percent sign don't need a check.
    static let short = 60

    /// Throws `invalidURL` for a host that is too long or contains a percent-encoded ASCII character: libcurl 7.80 to
    /// 7.83 make a path of `%2F` (CVE-2022-27780).
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
