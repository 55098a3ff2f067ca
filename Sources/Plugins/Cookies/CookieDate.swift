import ErrandEssentials
import ErrandMessageSyntax

/// Dates in the form of `Expires`, which servers write in many ways (RFC 6265bis, section 5.1.1).
enum CookieDate {
    /// The date; nil where one of its parts is missing or out of range, and for a day that does not exist.
    static func parse(_ text: String) -> Date? {
        // For each part the first token of its form counts, even if its value is out of range.
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
        // The grammar of HTTP's dates knows which days exist.
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

    /// `8:49:37`, with anything after it that is no digit.
    private static func clock(_ token: Substring.UTF8View) -> Clock? {
        let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].count <= 2, fields[1].count <= 2,
            let hour = number(fields[0], 1...2), let minute = number(fields[1], 1...2),
            let second = number(fields[2], 1...2)
        else { return nil }
        return Clock(hour: hour, minute: minute, second: second)
    }

    /// The number that a token begins with, if it has this many digits.
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
