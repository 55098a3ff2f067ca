import ErrandEssentials
import ErrandSupport

/// Reads dates such as `2024-05-06T12:34:56Z`.
enum ISO8601Date {
    static func date(_ text: String) -> Date? {
        text.withSpan { short($0) } ?? (try? Date.ISO8601FormatStyle().parse(text))
    }

    /// With seconds, in UTC, in the year 1600 or later. Foundation reads all other forms.
    private static func short(_ text: Span<UInt8>) -> Date? {
        guard text.count == 20, text[4] == 0x2D, text[7] == 0x2D, text[10] == 0x54, text[13] == 0x3A, text[16] == 0x3A,
            text[19] == 0x5A
        else { return nil }
        func pair(_ index: Int) -> Int? {
            let (tens, ones) = (Int(text[index]) - 0x30, Int(text[index + 1]) - 0x30)
            return 0...9 ~= tens && 0...9 ~= ones ? tens * 10 + ones : nil
        }
        guard let century = pair(0), let yearOfCentury = pair(2), let month = pair(5), let day = pair(8),
            let hour = pair(11), let minute = pair(14), let second = pair(17), century >= 16, 1...12 ~= month,
            1...28 ~= day || 1...length(of: month, century * 100 + yearOfCentury) ~= day, hour < 24, minute < 60,
            second < 60
        else { return nil }
        let days = days(year: century * 100 + yearOfCentury, month: month, day: day)
        return Date(timeIntervalSince1970: Double(days) * 86_400 + Double(hour * 3_600 + minute * 60 + second))
    }

    private static func length(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts days since 1970 and each year from March, so the leap day comes last.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let (year, month) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let leapDays = year / 4 - year / 100 + year / 400
        return year * 365 + leapDays + (month * 153 + 2) / 5 + day - 1 - 719_468
    }
}

/// As `JSONDecoder` implements `.convertFromSnakeCase`.
enum SnakeCase {
    /// Converts "user_name" to "userName". Keeps underscores at both ends, and keys without other underscores.
    static func camelCase(_ key: String) -> String {
        let head = key.prefix { $0 == "_" }
        guard head.endIndex < key.endIndex else { return key }
        let tail = key.reversed().prefix { $0 == "_" }
        let words = key.dropFirst(head.count).dropLast(tail.count).split(separator: "_")
        guard words.count > 1, let first = words.first else { return key }
        let joined = words.dropFirst().reduce(into: first.lowercased()) { $0 += $1.capitalized }
        return head + joined + String(repeating: "_", count: tail.count)
    }
}
