public import ErrandEssentials
import ErrandSupport

/// Validates URLs for HTTP requests. Validate a URL's text before you pass it to Foundation's `URL`, which silently
/// escapes invalid characters.
public enum URLSyntax {
    /// The reason why a URL is invalid.
    public struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The reason, as a sentence.
        public let description: String
        /// Creates a fault. Write the description in lower case, without a full stop.
        public init(description: String) { self.description = description }
    }

    /// Checks an absolute http or https URL. Returns the byte offset where its authority ends. Throws for another
    /// scheme, a missing host, credentials, an invalid port, or a character that must be escaped.
    @discardableResult
    public static func check(_ text: String) throws(Fault) -> Int {
        let result: Result<Int, Fault> = text.withSpan { bytes in
            do throws(Fault) { return .success(try check(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Returns whether the text is an absolute URL, starting with a scheme and `://`.
    public static func isAbsolute(_ text: String) -> Bool {
        text.withSpan { schemeEnd($0) != nil }
    }

    /// Checks a path, query or fragment. Throws at the first invalid character.
    public static func checkRest(_ text: String, allowed: (UInt8) -> Bool = isRest) throws(Fault) {
        let result: Result<Void, Fault> = text.withSpan { bytes in
            do throws(Fault) { return .success(try checkRest(bytes, from: 0, allowed)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Returns the origin as comparable text with its port, such as "https://example.com:443" or "https://[::1]:443".
    /// All spellings of an address have the same text.
    public static func origin(of url: URL) -> String {
        let scheme = url.scheme?.lowercased() ?? ""
        var host = url.host.map(HostName.comparable) ?? ""
        // Foundation returns an IPv6 address without its brackets.
        if host.utf8.contains(UInt8(ascii: ":")), !host.hasPrefix("[") { host = "[\(host)]" }
        return "\(scheme)://\(host):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }

    package static func origin(ofText text: String) -> String? {
        guard (try? check(text)) != nil else { return nil }
        return URL(string: text).map(origin(of:))
    }

    /// Returns whether two absolute URLs have the same text up to the end of the authority. If not, their origins can
    /// still be equal.
    package static func beginAlike(_ one: String, _ other: String) -> Bool {
        one.withSpan { one in
            other.withSpan { other in
                guard let colon = schemeEnd(one) else { return false }
                let end = one.firstIndex(from: colon + 3, where: endsAuthority) ?? one.count
                guard end <= other.count, end == other.count || endsAuthority(other[end]) else { return false }
                return other.starts(with: one.extracting(..<end))
            }
        }
    }

    /// Returns the lowercase host, without an address's brackets.
    package static func host(ofChecked text: String) -> String {
        text.withSpan { bytes in
            guard let colon = schemeEnd(bytes) else { return "" }
            var start = colon + 3
            let isLiteral = start < bytes.count && bytes[start] == UInt8(ascii: "[")
            if isLiteral { start += 1 }
            let last = UInt8(ascii: isLiteral ? "]" : ":")
            let end = bytes.firstIndex(from: start) { $0 == last || endsAuthority($0) } ?? bytes.count
            var host: [UInt8] = []
            host.reserveCapacity(end - start)
            for index in start..<end { host.append(ASCII.lowercase(bytes[index])) }
            return String(decoding: host, as: UTF8.self)
        }
    }

    /// Returns whether the text is a path, optionally with a query, that can be appended to a base unchanged. Returns
    /// false for some valid paths, too: paths with escapes, or with segments that start with a dot.
    package static func isPlainPath(_ text: String, from start: Int = 0) -> Bool {
        text.withSpan { bytes in
            var last: UInt8 = 0
            for index in start..<bytes.count {
                let byte = bytes[index]
                if !ASCII.isAlphanumeric(byte) {
                    let isPlain =
                        byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".")
                        ? last != UInt8(ascii: "/") : ASCII.isPathOrQuery(byte) && byte != UInt8(ascii: ":")
                    guard isPlain else { return false }
                }
                last = byte
            }
            return start == bytes.count || bytes[start] != UInt8(ascii: ".")
        }
    }

    /// Returns whether a path may contain `.` or `..`: a slash is followed by a dot.
    public static func mayHaveDotSegments(_ text: String) -> Bool {
        text.withSpan { bytes in
            var last: UInt8 = 0
            return bytes.firstIndex { byte in
                defer { last = byte }
                return byte == UInt8(ascii: ".") && last == UInt8(ascii: "/")
            } != nil
        }
    }

    /// Adds the text to a ``Fault`` that the body throws, as in `the path "a b": a space at offset 1 …`.
    package static func naming<Value>(
        _ what: String, _ text: String, _ body: () throws(Fault) -> Value
    ) throws(Fault) -> Value {
        do { return try body() } catch {
            throw Fault(description: "\(what) \(quoted(text)): \(error.description)")
        }
    }

    /// Returns at most 200 characters of a text in quotes, for an error message. Masks secrets if possible, and escapes
    /// control characters.
    public static func quoted(_ text: String) -> String {
        var text = text
        // In a broken URL, everything before an @ may contain a name and a password.
        let start = text.utf8.firstIndex { $0 == UInt8(ascii: ":") || endsAuthority($0) }
        let scheme = start.flatMap { text.utf8[$0] == UInt8(ascii: ":") ? text[..<$0] : nil }
        let isScheme = scheme.map { !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isToken) } ?? false
        let rest = text.utf8[(isScheme ? text.utf8.index(after: start ?? text.startIndex) : text.startIndex)...]
            .drop { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        let authority = rest.prefix { !endsAuthority($0) && $0 != UInt8(ascii: "\\") }
        if let last = text.utf8.lastIndex(of: UInt8(ascii: "@")), last >= rest.startIndex,
            isScheme || last < authority.endIndex,
            authority.contains(UInt8(ascii: "@")) || hasNoPort(authority)
        {
            text.replaceSubrange(rest.startIndex...last, with: "•••@")
        }
        return String(redacted(text).prefix(200)).debugDescription
    }

    private static func hasNoPort(_ authority: Substring.UTF8View) -> Bool {
        guard let colon = authority.firstIndex(of: UInt8(ascii: ":")), authority.first != UInt8(ascii: "[") else {
            return false
        }
        let port = authority[authority.index(after: colon)...]
        return !port.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    }

    private static func check(_ bytes: Span<UInt8>) throws(Fault) -> Int {
        guard let colon = schemeEnd(bytes) else {
            throw Fault(description: "the URL isn't absolute; expected a scheme such as https://")
        }
        let scheme = bytes.extracting(..<colon)
        guard isHTTP(scheme) else { throw otherScheme(String(decoding: scheme)) }
        let start = colon + 3
        let end = bytes.firstIndex(from: start, where: endsAuthority) ?? bytes.count
        try checkAuthority(bytes.extracting(start..<end))
        try checkRest(bytes, from: end, isRest)
        return end
    }

    static func otherScheme(_ scheme: String) -> Fault {
        switch scheme.lowercased() {
        case "ws": Fault(description: "the scheme is ws: for a WebSocket without TLS, write http")
        case "wss": Fault(description: "the scheme is wss: for a WebSocket over TLS, write https")
        default: Fault(description: "expected the scheme http or https")
        }
    }

    private static func isHTTP(_ scheme: Span<UInt8>) -> Bool {
        guard scheme.count == 4 || scheme.count == 5 else { return false }
        var index = 0
        for letter in "https".utf8.prefix(scheme.count) {
            guard ASCII.lowercase(scheme[index]) == letter else { return false }
            index += 1
        }
        return true
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func checkAuthority(_ authority: Span<UInt8>) throws(Fault) {
        if authority.contains(UInt8(ascii: "@")) {
            throw Fault(description: "credentials in a URL would show in logs; use an Authorization header")
        }
        let isLiteral = authority.count > 0 && authority[0] == UInt8(ascii: "[")
        let literalEnd = isLiteral ? authority.firstIndex { $0 == UInt8(ascii: "]") } : nil
        if isLiteral, literalEnd == nil { throw Fault(description: "the host begins with [ but has no closing ]") }
        let colon = authority.firstIndex(from: literalEnd.map { $0 + 1 } ?? 0) { $0 == UInt8(ascii: ":") }
        let hostEnd = colon ?? authority.count
        if let colon { try checkPort(authority.extracting((colon + 1)...)) }
        guard isLiteral else { return try checkHost(authority.extracting(..<hostEnd), isLiteral: false) }
        guard hostEnd > 3, authority[hostEnd - 1] == UInt8(ascii: "]") else {
            throw Fault(description: "the host in brackets isn't an IPv6 address")
        }
        let address = authority.extracting(1..<hostEnd - 1)
        let zone = address.firstIndex { $0 == UInt8(ascii: "%") } ?? address.count
        if zone < address.count { try checkZone(address.extracting(zone...)) }
        try checkHost(address.extracting(..<zone), isLiteral: true)
    }

    private static func checkPort(_ port: Span<UInt8>) throws(Fault) {
        guard port.isEmpty || port.allSatisfy(ASCII.isDigit) && UInt16(String(decoding: port)) != nil else {
            throw Fault(description: "the port isn't a number from 0 to 65535")
        }
    }

    private static func checkHost(_ host: Span<UInt8>, isLiteral: Bool) throws(Fault) {
        guard host.count > 0, host[0] != UInt8(ascii: ".") else { throw Fault(description: "the URL has no host") }
        guard host.allSatisfy({ ASCII.isUnreserved($0) || isLiteral && $0 == UInt8(ascii: ":") }) else {
            throw Fault(
                description: isLiteral
                    ? "the host in brackets isn't an IPv6 address"
                    : "the host has a character that isn't allowed in host names; write non-ASCII names as Punycode")
        }
    }

    /// Checks a zone such as `%25eth0` (RFC 6874, section 2).
    private static func checkZone(_ zone: Span<UInt8>) throws(Fault) {
        guard zone.count > 3, zone[1] == UInt8(ascii: "2"), zone[2] == UInt8(ascii: "5"),
            zone.extracting(3...).allSatisfy(ASCII.isUnreserved)
        else {
            throw Fault(description: "the IPv6 zone must be %25 followed by a name, such as %25eth0")
        }
    }

    private static func checkRest(
        _ bytes: Span<UInt8>, from start: Int, _ allowed: (UInt8) -> Bool
    ) throws(Fault) {
        for index in start..<bytes.count {
            let byte = bytes[index]
            if allowed(byte) { continue }
            if byte != UInt8(ascii: "%") {
                let what =
                    byte == 0x20 ? "a space" : byte < 0x20 || byte == 0x7F ? "a control character" : "a character"
                throw Fault(
                    description: "\(what) at offset \(index) must be percent-encoded; \\(segment:) does that in paths")
            }
            guard index + 2 < bytes.count, ASCII.isHexDigit(bytes[index + 1]), ASCII.isHexDigit(bytes[index + 2]) else {
                throw Fault(description: "the % at offset \(index) is not followed by two hexadecimal digits")
            }
        }
    }

    /// Returns whether a byte is allowed unescaped after the authority. Excludes brackets, although `a[]=1` is common
    /// (RFC 3986, section 3.4).
    public static func isRest(_ byte: UInt8) -> Bool { ASCII.isPathOrQuery(byte) || byte == UInt8(ascii: "#") }

    private static func schemeEnd(_ bytes: Span<UInt8>) -> Int? {
        let beginning = bytes.extracting(first: 32)
        guard let colon = beginning.firstIndex(where: { $0 == UInt8(ascii: ":") }), colon > 0, colon + 2 < bytes.count,
            bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/")
        else { return nil }
        return bytes.extracting(..<colon).allSatisfy(ASCII.isToken) ? colon : nil
    }
}

extension URLSyntax {
    /// Removes items from a URL's query. If an item occurs several times, removes only the last occurrence.
    ///
    /// ```swift
    /// URLSyntax.removing(queryItems: ["key=k"], from: "https://example.com/a?page=2&key=k")
    /// // https://example.com/a?page=2
    /// ```
    ///
    /// - Parameters:
    ///   - items: The percent-encoded items as they appear in the URL.
    ///   - text: The URL.
    public static func removing(queryItems items: some Sequence<String>, from text: String) -> String {
        let (head, all, tail) = queryItems(of: text)
        var left = all
        for item in items {
            if let index = left.lastIndex(where: { $0.utf8.elementsEqual(item.utf8) }) { left.remove(at: index) }
        }
        if left.count == all.count { return text }
        return head + (left.isEmpty ? "" : "?" + left.joined(separator: "&")) + tail
    }

    package static func adding(queryItems items: [String], to text: String) -> String {
        let (head, all, tail) = queryItems(of: text)
        let new = items.filter { item in !all.contains { $0.utf8.elementsEqual(item.utf8) } }
        if new.isEmpty { return text }
        return head + "?" + ((all == [""] ? [] : all.map(String.init)) + new).joined(separator: "&") + tail
    }

    private static func queryItems(of text: String) -> (head: Substring, items: [Substring], tail: Substring) {
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        guard let mark = text.utf8[..<end].firstIndex(of: UInt8(ascii: "?")) else {
            return (text[..<end], [], text[end...])
        }
        let items = text.utf8[text.utf8.index(after: mark)..<end]
            .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return (text[..<mark], items.map { Substring($0) }, text[end...])
    }
}
