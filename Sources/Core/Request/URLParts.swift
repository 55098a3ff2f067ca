import ErrandSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A base URL split where paths are joined to it, and the rules for what is a URL at all.
///
/// Everything is checked before `URL` sees it, because `URL` repairs: it escapes what it does not like, a host in
/// Chinese included.
struct URLParts {
    /// "https://example.com:8443"
    let origin: String
    /// "/v1/", always with a slash at its end (Y54).
    let directory: String

    /// Throws `invalidURL` for anything but an absolute http or https URL.
    init(base: String) throws {
        let base = base.prefix { $0 != "?" && $0 != "#" }
        let text = String(base)
        guard let end = try Self.authorityEnd(of: text) else {
            throw ErrandError(
                .invalidURL, text.isEmpty ? "there is no base URL for a relative path" : "the base URL is not absolute")
        }
        origin = String(text[..<end])
        directory = text.hasSuffix("/") && end < text.endIndex ? String(text[end...]) : text[end...] + "/"
    }

    /// The absolute URL of a path (RFC 3986, section 5): one with a scheme and a host stands for itself (Y51), one with
    /// a leading slash starts at the origin, any other is appended to the base.
    static func join(_ base: () throws -> URLParts, _ path: String, query: String) throws -> URL {
        var text: String
        if isAbsolute(path) {
            text = path
        } else {
            let base = try base()
            if path.hasPrefix("//") {
                throw ErrandError(.invalidURL, "a path that starts with // would name another host")
            }
            text = path.hasPrefix("/") ? base.origin + path : base.origin + base.directory + path
        }
        if let end = try authorityEnd(of: text), end == text.endIndex { text += "/" }
        if !query.isEmpty {
            var fragment: Substring = ""
            if let hash = text.firstIndex(of: "#") {
                fragment = text[hash...]
                text = String(text[..<hash])
            }
            text +=
                (!text.utf8.contains(UInt8(ascii: "?")) ? "?" : text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&")
            text += query + fragment
        }
        if let fault = firstFault(
            in: text, allowed: { ASCII.isPathOrQuery($0) || $0 == UInt8(ascii: "#") || isBracket($0) })
        {
            throw ErrandError(.invalidURL, fault)
        }
        // "/../" and "/./" are resolved as a browser would, so that nothing below sees another path than the filters do.
        let isDotted = text.utf8.contains(UInt8(ascii: ".")) && text.contains("/.")
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw ErrandError(.invalidURL, "this is no URL")
        }
        return isDotted ? url.standardized : url
    }

    /// Throws `invalidURL` unless the URL is absolute, http or https, with a host and without credentials.
    static func validate(_ url: URL) throws {
        let text = url.absoluteString
        guard try authorityEnd(of: text) != nil else { throw ErrandError(.invalidURL, "the URL is not absolute") }
        if let fault = firstFault(in: text, allowed: { $0 > 0x20 && $0 < 0x7F }) {
            throw ErrandError(.invalidURL, fault)
        }
    }

    /// The URL for people to read: no credentials, no fragment, the values of the query masked.
    static func redacted(_ url: URL) -> String {
        let text = url.absoluteString
        var result = String(text.prefix { $0 != "?" && $0 != "#" })
        if let scheme = result.firstRange(of: "://") {
            let authority = result[scheme.upperBound...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") {
                result.replaceSubrange(scheme.upperBound...at, with: "•••@")
            }
        }
        guard let mark = text.firstIndex(of: "?") else { return result }
        let items = text[text.index(after: mark)...].prefix { $0 != "#" }.split(separator: "&")
        result +=
            "?"
            + items.map { item in item.contains("=") ? item.prefix { $0 != "=" } + "=•••" : item }
            .joined(separator: "&")
        return result
    }

    /// "https://example.com:443" in one form for every way of writing it; two URLs with the same have the same origin.
    static func origin(of url: URL) -> String {
        let scheme = url.scheme?.lowercased() ?? ""
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(url.host?.lowercased() ?? ""):\(port)"
    }

    /// What is wrong with the first character that may not stand there; nil if all is well.
    static func firstFault(in text: String, allowed: (UInt8) -> Bool) -> String? {
        var text = text
        return text.withUTF8 { bytes in
            for (index, byte) in bytes.enumerated() {
                if byte == UInt8(ascii: "%") {
                    if index + 2 < bytes.count, ASCII.isHexDigit(bytes[index + 1]), ASCII.isHexDigit(bytes[index + 2]) {
                        continue
                    }
                    return "the % at offset \(index) of the URL is not followed by two hexadecimal digits"
                }
                if allowed(byte) { continue }
                let what =
                    byte == 0x20 ? "a space" : byte < 0x20 || byte == 0x7F ? "a control character" : "a character"
                return "\(what) at offset \(index) of the URL has to be percent-encoded; \\(segment:) does it in a path"
            }
            return nil
        }
    }

    private static func isBracket(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") }

    private static func isAbsolute(_ path: String) -> Bool {
        guard let colon = path.utf8.firstIndex(of: UInt8(ascii: ":")), path[colon...].hasPrefix("://") else {
            return false
        }
        return path.utf8[..<colon].allSatisfy { ASCII.isToken($0) }
    }

    /// Where the authority of an absolute URL ends; nil if the text does not start with http:// or https://. Throws for
    /// another scheme and for an authority that is empty, holds credentials, or has a character no host has.
    private static func authorityEnd(of text: String) throws -> String.Index? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text[colon...].hasPrefix("://") else {
            return nil
        }
        let scheme = text[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw ErrandError(.invalidURL, "the scheme is not http or https")
        }
        let start = text.index(colon, offsetBy: 3)
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.utf8.contains(UInt8(ascii: "@")) {
            throw ErrandError(.invalidURL, "credentials in a URL would show in logs; use Authorization.basic")
        }
        let isLiteral = authority.hasPrefix("[")
        let host = isLiteral ? authority.prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        let port = authority[host.endIndex...].drop { $0 == "]" || $0 == ":" }
        guard !host.isEmpty, port.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            port.isEmpty || UInt16(port) != nil
        else { throw ErrandError(.invalidURL, "the host or the port is missing or not valid") }
        guard
            host.dropFirst(isLiteral ? 1 : 0).utf8.allSatisfy({
                ASCII.isUnreserved($0) || isLiteral && $0 == UInt8(ascii: ":")
            })
        else {
            throw ErrandError(
                .invalidURL, "the host has a character that no host name has; write one in another script as Punycode")
        }
        return authority.endIndex
    }
}

extension DefaultStringInterpolation {
    /// Inserts text as one segment of a path, percent-encoded: `"users/\(segment: name)/posts"`.
    public mutating func appendInterpolation(segment: String) {
        var text = ""
        ASCII.percentEncode(segment, into: &text, allowed: ASCII.isUnreserved)
        // A segment of dots alone would be taken for a step upwards.
        appendInterpolation(text.utf8.allSatisfy { $0 == UInt8(ascii: ".") } ? text.replacing(".", with: "%2E") : text)
    }
}
