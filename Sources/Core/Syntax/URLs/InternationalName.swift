import ErrandEssentials

/// Converts internationalized host names to ASCII (UTS 46, RFC 5891): `例え.jp` becomes `xn--r8jz45g.jp`.
///
/// The character table is libidn2's on Linux, and Foundation's if the program contains it, as on Apple platforms.
package enum InternationalName {
    package enum Table: Sendable {
        case system
        /// As on a system without libidn2.
        case missing
    }

    /// The longest accepted name, in bytes. DNS allows 253 ASCII characters, each for at most three bytes.
    private static let maximumLength = 1024

    /// Throws if a character isn't allowed in a host name, or if the table is missing.
    static func ascii(_ name: String, table: Table) throws(URLSyntax.Fault) -> String {
        guard name.utf8.count <= maximumLength, !name.utf8.contains(0) else { throw refusal(name) }
        if table == .system {
            switch HostName.converted(name, maximumLength: maximumLength) {
            case .done(let host): return host
            case .refused: throw refusal(name)
            case .missing: break
            }
            if let host = foundation(name) { return host }
            #if canImport(Darwin)
            throw refusal(name)
            #endif
        }
        throw URLSyntax.Fault(
            description:
                "the host \(name.debugDescription) isn't ASCII, and this system can't convert it to Punycode: "
                + "libidn2 is missing")
    }

    /// Returns nil without a table in Foundation, or if it rejects the name.
    private static func foundation(_ name: String) -> String? {
        guard let url = URL(string: "http://\(name)/"), let host = url.host(percentEncoded: true),
            // A character can be equivalent to a slash or another separator.
            url.absoluteString == "http://\(host)/", host.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") })
        else { return nil }
        return host
    }

    private static func refusal(_ name: String) -> URLSyntax.Fault {
        URLSyntax.Fault(
            description:
                "the host \(String(name.prefix(200)).debugDescription) has a character that isn't allowed in host names"
        )
    }
}
