import ErrandMessageSyntax

/// Dates, times and durations (RFC 3339, section 5.6 and appendix A).
enum DateFormat {
    static func isDateTime(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 11, bytes[10] | 0x20 == UInt8(ascii: "t") else { return false }
        return isDate(Array(bytes[..<10])) && isTime(Array(bytes[11...]))
    }

    static func isDate(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10])
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) && (1...days[month - 1]).contains(day)
    }

    static func isTime(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 9, bytes[2] == UInt8(ascii: ":"), bytes[5] == UInt8(ascii: ":"),
            let hour = number(bytes[0..<2]), let minute = number(bytes[3..<5]), let second = number(bytes[6..<8]),
            hour < 24, minute < 60, second <= 60
        else { return false }
        var rest = bytes[8...]
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: ASCII.isDigit)
            if digits.isEmpty { return false }
            rest = rest.dropFirst(1 + digits.count)
        }
        var offset = 0
        switch rest.first {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): if rest.count != 1 { return false }
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            let zone = Array(rest.dropFirst())
            guard zone.count == 5, zone[2] == UInt8(ascii: ":"), let hours = number(zone[0..<2]),
                let minutes = number(zone[3..<5]), hours < 24, minutes < 60
            else { return false }
            offset = (hours * 60 + minutes) * (rest.first == UInt8(ascii: "+") ? 1 : -1)
        default: return false
        }
        // A leap second is the last one of a day in UTC.
        return second < 60 || (hour * 60 + minute - offset + 2_880) % 1_440 == 1_439
    }

    static func isDuration(_ bytes: [UInt8]) -> Bool {
        guard bytes.first == UInt8(ascii: "P") else { return false }
        var rest = bytes[1...]
        let date = units(&rest)
        if date == "W" { return rest.isEmpty }
        guard ["", "Y", "YM", "YMD", "M", "MD", "D"].contains(date) else { return false }
        if rest.isEmpty { return !date.isEmpty }
        guard rest.removeFirst() == UInt8(ascii: "T") else { return false }
        let time = units(&rest)
        return rest.isEmpty && ["H", "HM", "HMS", "M", "MS", "S"].contains(time)
    }

    /// The letters behind the numbers that follow.
    private static func units(_ rest: inout ArraySlice<UInt8>) -> String {
        var letters = ""
        while true {
            let digits = rest.prefix(while: ASCII.isDigit)
            guard !digits.isEmpty, let letter = rest.dropFirst(digits.count).first, ASCII.isLetter(letter),
                letters.count < 4
            else { return letters }
            letters.unicodeScalars.append(Unicode.Scalar(letter))
            rest = rest.dropFirst(digits.count + 1)
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.allSatisfy(ASCII.isDigit) else { return nil }
        return bytes.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
