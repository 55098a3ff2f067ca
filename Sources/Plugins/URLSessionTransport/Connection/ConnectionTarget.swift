import Errand
import Foundation

struct ConnectionTarget: Hashable, Sendable {
    /// A name, or an address without brackets.
    let host: String
    let port: UInt16
    let isSecure: Bool

    /// Throws `invalidURL` if the host is missing or contains percent-encoded characters.
    init(_ url: URL) throws(ErrandError) {
        isSecure = url.scheme?.lowercased() == "https"
        let text = url.host(percentEncoded: true) ?? ""
        // An IPv6 address may have a zone after a percent sign.
        let isLiteral = text.utf8.contains(UInt8(ascii: ":"))
        guard !text.isEmpty, isLiteral || !text.utf8.contains(UInt8(ascii: "%")) else {
            throw ErrandError(.invalidURL, "the URL has no host to connect to")
        }
        host = isLiteral ? url.host(percentEncoded: false) ?? text : text
        guard let port = UInt16(exactly: url.port ?? (isSecure ? 443 : 80)), port > 0 else {
            throw ErrandError(.invalidURL, "the URL's port isn't between 1 and 65535")
        }
        self.port = port
    }
}
