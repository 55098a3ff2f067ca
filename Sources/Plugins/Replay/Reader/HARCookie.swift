import ErrandEssentials
import ErrandMessageSyntax

/// A cookie in an entry's list of a response's cookies.
struct HARCookie {
    private static let maximumCookies = 1_000

    private var name: String?
    private var value = ""
    private var path: String?
    private var domain: String?
    private var expires: String?
    private var sameSite: String?
    private var isSecure = false
    private var isHTTPOnly = false

    /// Reads a list. Skips anything else, because the list is only needed if there are no fields.
    static func list(_ reader: inout JSONReader) throws(HARError) -> [HARCookie] {
        var cookies: [HARCookie] = []
        guard try reader.space() == UInt8(ascii: "[") else {
            try reader.skipValue()
            return cookies
        }
        try reader.array { (reader, _) throws(HARError) in
            guard cookies.count < maximumCookies, try reader.space() == UInt8(ascii: "{") else {
                return try reader.skipValue()
            }
            cookies.append(try HARCookie(&reader))
        }
        return cookies
    }

    private init(_ reader: inout JSONReader) throws(HARError) {
        var cookie = HARCookie()
        try reader.object { (reader, member) throws(HARError) in
            switch member {
            case "name": cookie.name = try reader.text()
            case "value": cookie.value = try reader.text() ?? ""
            case "path": cookie.path = try reader.text()
            case "domain": cookie.domain = try reader.text()
            case "expires": cookie.expires = try reader.text()
            case "sameSite": cookie.sameSite = try reader.text()
            case "secure": cookie.isSecure = try reader.isTrue()
            case "httpOnly": cookie.isHTTPOnly = try reader.isTrue()
            default: try reader.skipValue()
            }
        }
        self = cookie
    }

    private init() {}

    /// The value of a `Set-Cookie` field, or `nil` if the cookie can't be part of a field.
    var field: String? {
        guard let name, !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")) else { return nil }
        var parts = ["\(name)=\(value)"]
        if let path, !path.isEmpty { parts.append("Path=\(path)") }
        if let domain, !domain.isEmpty { parts.append("Domain=\(domain)") }
        if let expires,
            let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: expires.contains(".")).parse(expires)
        {
            parts.append("Expires=\(HTTPDate.format(date))")
        }
        if isSecure { parts.append("Secure") }
        if isHTTPOnly { parts.append("HttpOnly") }
        if let sameSite, !sameSite.isEmpty { parts.append("SameSite=\(sameSite)") }
        let isValid = parts.allSatisfy { part in
            part.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
        }
        return isValid ? parts.joined(separator: "; ") : nil
    }
}

extension JSONReader {
    /// Reads a text of a limited length. Skips any other value, because programs write dates and flags in several ways.
    fileprivate mutating func text() throws(HARError) -> String? {
        guard try space() == UInt8(ascii: "\"") else {
            try skipValue()
            return nil
        }
        let text = try beginning(limit: 8192)
        return text?.isCut == false ? text?.text : nil
    }

    fileprivate mutating func isTrue() throws(HARError) -> Bool {
        let isTrue = try space() == UInt8(ascii: "t")
        try skipValue()
        return isTrue
    }
}
