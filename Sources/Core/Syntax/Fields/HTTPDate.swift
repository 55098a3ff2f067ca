public import ErrandEssentials

/// Formats and parses HTTP dates (RFC 9110, section 5.6.7). Formatting writes the preferred form, and parsing accepts
/// all three forms.
public enum HTTPDate {
    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`, with
    /// names in any case. In the first form, the day may be a single digit, as some servers write it. Returns nil for
    /// other text. The weekday doesn't have to match the date.
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - now: Determines the century of a two-digit year. A year that would be more than 50 years after `now` belongs
    ///     to the previous century.
    public static func parse(_ text: some StringProtocol, now: Date = Date()) -> Date? {
        let bytes = Array(text.utf8)
        guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else { return ascTime(bytes[...]) }
        let (name, rest) = (bytes[..<comma], bytes[(comma + 1)...])
        if days.contains(where: { matches(name, $0.prefix(3)) }) { return fixed(rest) }
        return days.contains { matches(name, $0) } ? rfc850(rest, now: now) : nil
    }

    /// Formats a date as `Sun, 06 Nov 1994 08:49:37 GMT`, rounded down to a second. Dates outside the years 0 to 9999
    /// are clamped.
    public static func format(_ date: Date) -> String {
        let range = secondsOfYear0...secondsOfYear9999
        let seconds = Int64(min(max(date.timeIntervalSince1970, range.lowerBound), range.upperBound).rounded(.down))
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let second = Int(seconds - day * 86_400)
        let (year, month, dayOfMonth) = civil(fromDay: Int(day))
        let name = days[((Int(day) + 4) % 7 + 7) % 7].prefix(3)
        let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(name), \(padded(dayOfMonth, 2)) \(months[month - 1]) \(padded(year, 4)) \(clock) GMT"
    }

    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let secondsOfYear0 = -62_167_219_200.0
    private static let secondsOfYear9999 = 253_402_300_799.0

    /// Parses the preferred form, after the comma.
    private static func fixed(_ text: ArraySlice<UInt8>) -> Date? {
        var cursor = Cursor(text)
        guard cursor.skip(" "), let day = cursor.number(2) ?? cursor.number(1), cursor.skip(" "),
            let month = cursor.month(), cursor.skip(" "), let year = cursor.number(4), cursor.skip(" "),
            let clock = cursor.clock(), cursor.skip(" GMT"), cursor.isAtEnd
        else { return nil }
        return date(year, month, day, second: clock)
    }

    private static func rfc850(_ text: ArraySlice<UInt8>, now: Date) -> Date? {
        var cursor = Cursor(text)
        guard cursor.skip(" "), let day = cursor.number(2), cursor.skip("-"), let month = cursor.month(),
            cursor.skip("-"), let short = cursor.number(2), cursor.skip(" "), let clock = cursor.clock(),
            cursor.skip(" GMT"), cursor.isAtEnd
        else { return nil }
        let today = min(max(now.timeIntervalSince1970 / 86_400, -700_000), 2_900_000)
        let thisYear = civil(fromDay: Int(today.rounded(.down))).year
        var year = thisYear - thisYear % 100 + short
        if year > thisYear + 50 { year -= 100 }
        return date(year, month, day, second: clock)
    }

    private static func ascTime(_ text: ArraySlice<UInt8>) -> Date? {
        guard days.contains(where: { matches(text.prefix(3), $0.prefix(3)) }) else { return nil }
        var cursor = Cursor(text.dropFirst(3))
        guard cursor.skip(" "), let month = cursor.month(), cursor.skip(" "),
            let day = cursor.skip(" ") ? cursor.number(1) : cursor.number(2), cursor.skip(" "),
            let clock = cursor.clock(), cursor.skip(" "), let year = cursor.number(4), cursor.isAtEnd
        else { return nil }
        return date(year, month, day, second: clock)
    }

    private static func date(_ year: Int, _ month: Int, _ day: Int, second: Int) -> Date? {
        let number = dayNumber(year, month, day)
        guard day >= 1, civil(fromDay: number) == (year, month, day) else { return nil }
        return Date(timeIntervalSince1970: Double(number * 86_400 + second))
    }

    /// Returns the number of a day. Counts years from March, so the leap day comes last.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(fromDay number: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    private static func matches(_ bytes: ArraySlice<UInt8>, _ name: some StringProtocol) -> Bool {
        bytes.count == name.utf8.count
            && zip(bytes, name.utf8).allSatisfy { ASCII.lowercase($0) == ASCII.lowercase($1) }
    }

    private struct Cursor {
        private var rest: ArraySlice<UInt8>
        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func skip(_ text: String) -> Bool {
            guard HTTPDate.matches(rest.prefix(text.utf8.count), text) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }

        mutating func number(_ digits: Int) -> Int? {
            guard rest.count >= digits else { return nil }
            var value = 0
            for byte in rest.prefix(digits) {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            rest = rest.dropFirst(digits)
            return value
        }

        mutating func month() -> Int? {
            let name = rest.prefix(3)
            guard let index = HTTPDate.months.firstIndex(where: { HTTPDate.matches(name, $0) }) else { return nil }
            rest = rest.dropFirst(3)
            return index + 1
        }

        /// Parses a time such as `08:49:37` and returns the seconds since midnight. A leap second counts as the second
        /// before it.
        mutating func clock() -> Int? {
            guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
                hour < 24, minute < 60, second <= 60
            else { return nil }
            return hour * 3600 + minute * 60 + min(second, 59)
        }
    }
}
