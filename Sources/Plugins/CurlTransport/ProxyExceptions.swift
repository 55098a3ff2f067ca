import ErrandEssentials
import ErrandMessageSyntax

/// The hosts that are reached without a proxy, as in `no_proxy`: `localhost:8080,.example.com,10.0.0.0/8,::1`.
///
/// Parsed here, because libcurl supports neither ports nor `*.example.com`, and no libcurl version knows every form of
/// an IPv6 address.
struct ProxyExceptions: Sendable {
    private enum Host: Sendable {
        case all
        /// A domain with all its subdomains.
        case domain(String)
        case address(String)
        case range([UInt8], bits: Int)
    }

    private let entries: [(host: Host, port: Int?)]

    var isEmpty: Bool { entries.isEmpty }

    /// Parses a list. Ignores entries that aren't hosts.
    init(_ list: String) {
        entries = list.split { $0 == "," || $0.isWhitespace }.compactMap(Self.entry)
    }

    private static func entry(_ text: Substring) -> (host: Host, port: Int?)? {
        if text == "*" { return (.all, nil) }
        if let slash = text.firstIndex(of: "/") {
            guard let bytes = HostName.addressBytes(String(text[..<slash])),
                let bits = ASCII.digits(text[text.index(after: slash)...]),
                bits <= 8 * bytes.count
            else { return nil }
            return (.range(bytes, bits: Int(bits)), nil)
        }
        var (host, port) = (text, Int?.none)
        // Several colons belong to an IPv6 address, unless the address is in brackets.
        if let colon = text.lastIndex(of: ":"), text[..<colon].last == "]" || text.firstIndex(of: ":") == colon {
            let digits = text[text.index(after: colon)...]
            guard digits.isEmpty || ASCII.digits(digits) != nil else { return nil }
            (host, port) = (text[..<colon], ASCII.digits(digits).map { Int(clamping: $0) })
        }
        if host.hasPrefix("*.") { host = host.dropFirst() }
        if host.hasPrefix(".") { host = host.dropFirst() }
        guard let name = HostName.normalized(String(host)) else { return nil }
        return (HostName.isAddress(name) ? .address(name) : .domain(name), port)
    }

    func contain(_ url: URL, isSecure: Bool) -> Bool {
        guard !entries.isEmpty, let host = url.host(percentEncoded: false), let name = HostName.normalized(host) else {
            return false
        }
        let port = url.port ?? (isSecure ? 443 : 80)
        let isAddress = HostName.isAddress(name)
        let bytes = isAddress ? HostName.addressBytes(name) : nil
        return entries.contains { entry in
            guard entry.port == nil || entry.port == port else { return false }
            switch entry.host {
            case .all: return true
            case .domain(let domain): return !isAddress && (name == domain || name.hasSuffix("." + domain))
            case .address(let address): return name == address
            case .range(let start, let bits): return bytes.map { Self.agree($0, start, bits: bits) } ?? false
            }
        }
    }

    private static func agree(_ one: [UInt8], _ other: [UInt8], bits: Int) -> Bool {
        guard one.count == other.count else { return false }
        let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
        guard one.prefix(whole) == other.prefix(whole) else { return false }
        return rest == 0 || (one[whole] ^ other[whole]) >> UInt8(8 - rest) == 0
    }
}
