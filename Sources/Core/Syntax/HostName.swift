/// Normalizes host names and addresses (RFC 9110, section 4.2.3; RFC 5952).
///
/// ```swift
/// HostName.normalized("API.Example.com.")         // "api.example.com"
/// HostName.normalized("127.1")                    // "127.0.0.1"
/// HostName.normalized("https://example.com")      // nil: a URL isn't a host
/// ```
public enum HostName {
    /// Returns a lowercase name without its final dot, or an address in its usual form. Returns nil for other text,
    /// such as a URL or a name with a port. Write internationalized names as Punycode (RFC 5891).
    public static func normalized(_ text: String) -> String? {
        var host = text[...]
        if host.utf8.contains(UInt8(ascii: ":")) { return literal(host) }
        if host.last == "." { host = host.dropLast() }
        guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy(isAllowed) else { return nil }
        if let address = address(String(host)) { return address }
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ (1...63).contains($0.count) }) else { return nil }
        return host.lowercased()
    }

    /// Returns whether the host is an address, which doesn't need a name lookup.
    public static func isAddress(_ text: String) -> Bool {
        if text.utf8.contains(UInt8(ascii: ":")) { return literal(text[...]) != nil }
        return number(text) != nil && text.utf8.allSatisfy(isAllowed)
    }

    /// Returns a host that can be compared with other hosts: an address in its usual form with its zone, or other text
    /// in lowercase. A final dot stays, because a name with a final dot is another host.
    public static func comparable(_ host: String) -> String {
        guard isAddress(host), let address = normalized(host) else {
            return host.utf8.contains(where: mayBeUppercase) ? host.lowercased() : host
        }
        return address + String(Substring(host.utf8.drop { $0 != UInt8(ascii: "%") }))
    }

    /// Returns a URL's authority as it's sent: an address in its usual form, and without its zone, which only this
    /// device knows (RFC 6874, section 4). Returns other text unchanged.
    public static func sentAuthority(_ authority: String) -> String {
        let bracket = authority.first == "[" ? authority.firstIndex(of: "]") : nil
        let end = bracket.map { authority.index(after: $0) } ?? authority.firstIndex(of: ":") ?? authority.endIndex
        let host = String(authority[..<end])
        guard isAddress(host), let address = normalized(host) else { return authority }
        return (bracket == nil ? address : "[\(address)]") + authority[end...]
    }

    /// Returns the bytes of an address: 4 for IPv4, 16 for IPv6 without its zone. Returns nil for other text.
    public static func addressBytes(_ text: String) -> [UInt8]? {
        if text.utf8.contains(UInt8(ascii: ":")) { return literal(text[...]).flatMap(bytesOfIPv6) }
        guard text.utf8.allSatisfy(isAllowed), let number = number(text) else { return nil }
        return bytes(of: number)
    }

    private static func mayBeUppercase(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    /// Returns a normalized IPv6 address (RFC 5952), which may be written in brackets. Drops the zone.
    private static func literal(_ text: Substring) -> String? {
        let isBracketed = text.first == "[" && text.last == "]"
        let address = isBracketed ? text.dropFirst().dropLast() : text
        return normalizedIPv6(String(address.prefix { $0 != "%" }))
    }

    /// Returns a normalized IPv4 address. Accepts any form that can connect, such as `127.1` and `0x7f000001`.
    private static func address(_ text: String) -> String? {
        number(text).map { bytes(of: $0).map { String($0) }.joined(separator: ".") }
    }

    private static func number(_ text: String) -> UInt32? {
        guard let first = text.utf8.first, ASCII.isDigit(first) else { return nil }
        return numberOfIPv4(text)
    }

    private static func bytes(of number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
