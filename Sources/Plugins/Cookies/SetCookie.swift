import ErrandEssentials
import ErrandMessageSyntax

/// A `Set-Cookie` field, read but not judged (RFC 6265bis, section 5.6).
struct SetCookie: Sendable, Equatable {
    var name: String
    var value: String
    /// Nil without one that can be parsed.
    var maxAge: Int64?
    var expires: Date?
    /// The domain without its leading dot, in lower case; empty without one.
    var domain = ""
    /// Nil where the default path applies.
    var path: String?
    /// Whether there is a Path attribute of any value.
    var hasPath = false
    var isSecure = false
    var isHTTPOnly = false
    var sameSite = Cookie.SameSite.unspecified

    /// Reads a field. Throws for a control character and for a name and a value that are too long or both empty.
    init(parsing text: String, limits: CookieLimits) throws(CookieRejection) {
        if text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) { throw .controlCharacter }
        let pair = text.utf8.prefix { $0 != UInt8(ascii: ";") }
        if let equals = pair.firstIndex(of: UInt8(ascii: "=")) {
            name = String(ASCII.trimmed(Substring(pair[..<equals])))
            value = String(ASCII.trimmed(Substring(pair[pair.index(after: equals)...])))
        } else {
            (name, value) = ("", String(ASCII.trimmed(Substring(pair))))
        }
        if name.isEmpty && value.isEmpty { throw .empty }
        if name.utf8.count + value.utf8.count > limits.maximumNameAndValueBytes { throw .tooLong }
        for attribute in text.utf8[pair.endIndex...].split(separator: UInt8(ascii: ";")) {
            let parts = attribute.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first else { continue }
            let content = ASCII.trimmed(Substring(parts.count > 1 ? parts[1] : attribute[attribute.endIndex...]))
            // Section 5.6, step 6 of the attributes: one that is too long counts as absent.
            if content.utf8.count <= limits.maximumAttributeBytes {
                read(Self.lowercased(ASCII.trimmed(Substring(key))), content)
            }
        }
    }

    /// Of several attributes with one name the last counts.
    private mutating func read(_ name: String, _ content: Substring) {
        switch name {
        case "expires": expires = CookieDate.parse(String(content)) ?? expires
        case "max-age": maxAge = Self.seconds(content) ?? maxAge
        case "domain":
            // By bytes: neither a sign above the dot nor a letter that is lower in ASCII only may change the name.
            let isDotted = content.utf8.first == UInt8(ascii: ".")
            domain = Self.lowercased(isDotted ? Substring(content.utf8.dropFirst()) : content)
        case "path":
            path = content.utf8.first == UInt8(ascii: "/") ? String(content) : nil
            hasPath = true
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Cookie.SameSite(rawValue: Self.lowercased(content)) ?? .unspecified
        default: break
        }
    }

    private static func lowercased(_ text: Substring) -> String {
        String(decoding: text.utf8.map(ASCII.lowercase), as: UTF8.self)
    }

    /// Digits, perhaps behind a minus (section 5.6.2); nil for anything else.
    private static func seconds(_ text: Substring) -> Int64? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return isNegative ? -1 : ASCII.digits(digits) ?? .max
    }
}
