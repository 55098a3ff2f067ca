import ErrandEssentials
import ErrandMessageSyntax

/// A parsed but not yet validated `Set-Cookie` field (RFC 6265bis, section 5.6).
struct SetCookie: Sendable, Equatable {
    var name: String
    var value: String
    /// The value of `Max-Age` in seconds.
    var maxAge: Int64?
    var expires: Date?
    /// The value of `Domain` in lowercase, without a leading dot. Empty if the attribute is missing.
    var domain = ""
    var path: String?
    /// Whether the field has a `Path` attribute, even an invalid one.
    var hasPath = false
    var isSecure = false
    var isHTTPOnly = false
    var sameSite = Cookie.SameSite.unspecified

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
        try limits.checkSize(name, value)
        for attribute in text.utf8[pair.endIndex...].split(separator: UInt8(ascii: ";")) {
            let parts = attribute.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first else { continue }
            let content = ASCII.trimmed(Substring(parts.count > 1 ? parts[1] : attribute[attribute.endIndex...]))
            // Longer attributes are ignored (section 5.6, step 6 of the attribute parsing).
            if content.utf8.count <= limits.maximumAttributeBytes {
                read(Self.lowercased(ASCII.trimmed(Substring(key))), content)
            }
        }
    }

    /// Reads an attribute. If several attributes have the same name, the last of them counts.
    private mutating func read(_ name: String, _ content: Substring) {
        switch name {
        case "expires": expires = CookieDate.parse(String(content)) ?? expires
        case "max-age": maxAge = Self.seconds(content) ?? maxAge
        case "domain":
            // Work on bytes: `lowercased()` turns some other letters into ASCII, and a combining character may follow
            // the dot.
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

    /// Parses a number of seconds, which can have a minus sign (section 5.6.2).
    private static func seconds(_ text: Substring) -> Int64? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return isNegative ? -1 : ASCII.digits(digits) ?? .max
    }
}

/// Parses the dates of `Expires`, which servers write in many formats (RFC 6265bis, section 5.1.1).
enum CookieDate {
    static func parse(_ text: String) -> Date? {
        // The first token of the right form counts, even if its value is out of range.
        var (time, day, month, year): (Clock?, Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = number(token, 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(token) {
                month = found
            } else if year == nil, let found = number(token, 2...4) {
                year = found
            }
        }
        guard let time, time.isValid, let day, let month, var year else { return nil }
        if year <= 69 { year += 2000 } else if year <= 99 { year += 1900 }
        guard year >= 1601, (1...31).contains(day) else { return nil }
        return HTTPDate.parse("Sun, \(padded(day)) \(months[month - 1]) \(padded(year, 4)) \(time.text) GMT")
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private struct Clock {
        let hour: Int
        let minute: Int
        let second: Int

        var isValid: Bool { hour < 24 && minute < 60 && second < 60 }
        var text: String { [hour, minute, second].map { padded($0) }.joined(separator: ":") }
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Parses a time. Other text may follow the time after a character that isn't a digit.
    private static func clock(_ token: Substring.UTF8View) -> Clock? {
        let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].count <= 2, fields[1].count <= 2,
            let hour = number(fields[0], 1...2), let minute = number(fields[1], 1...2),
            let second = number(fields[2], 1...2)
        else { return nil }
        return Clock(hour: hour, minute: minute, second: second)
    }

    private static func number(_ token: Substring.UTF8View, _ digits: ClosedRange<Int>) -> Int? {
        let found = token.prefix(while: ASCII.isDigit)
        guard digits.contains(found.count) else { return nil }
        return found.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func monthNumber(_ token: Substring.UTF8View) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self)
        return months.firstIndex { ASCII.equalsIgnoringCase($0, name) }.map { $0 + 1 }
    }
}
