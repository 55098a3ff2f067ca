/// Human-readable numbers.
enum Readable {
    /// `512 B`, `1.5 KiB`, `1023.9 MiB`: units of 1024 with one decimal.
    static func size(_ bytes: Double) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var (value, unit) = (max(0, bytes), 0)
        while unit < units.count - 1, unit == 0 ? value.rounded() >= 1024 : value >= 1023.95 {
            (value, unit) = (value / 1024, unit + 1)
        }
        if unit == 0 { return "\(Int(value.rounded())) B" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    static func size(_ bytes: Int64) -> String { size(Double(bytes)) }

    /// `8 s`, `3 min 20 s`, `2 h 5 min`, `4 days`.
    static func time(_ seconds: Int64) -> String {
        switch seconds {
        case ..<60: return "\(max(0, seconds)) s"
        case ..<600: return seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds / 60) min \(seconds % 60) s"
        case ..<3600: return "\(seconds / 60) min"
        case ..<86_400:
            let minutes = seconds % 3600 / 60
            return minutes == 0 ? "\(seconds / 3600) h" : "\(seconds / 3600) h \(minutes) min"
        default: return seconds < 2 * 86_400 ? "1 day" : "\(min(seconds / 86_400, 9999)) days"
        }
    }

    /// `0.5 s` below ten seconds; formatted like `time` above that.
    static func wait(_ seconds: Double) -> String {
        guard seconds < 9.95 else { return time(Int64(min(seconds.rounded(), 1e12))) }
        let tenths = Int((max(0, seconds) * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }

    /// Replaces byte counts in a sentence: `12582912 bytes needed` becomes `12.0 MiB needed`.
    static func sizes(in text: String) -> String {
        var result: [Substring] = []
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        var index = 0
        while index < words.count {
            let next = index + 1 < words.count ? words[index + 1] : ""
            let opening = words[index].prefix { $0 == "(" }
            if let count = Int64(words[index].dropFirst(opening.count)), count >= 1024 {
                let rest = next.hasPrefix("bytes") ? next.dropFirst(5) : nil
                if rest != nil || next == "free" || next.hasPrefix("received") {
                    result.append(opening + size(count) + (rest ?? ""))
                    index += rest == nil ? 1 : 2
                    continue
                }
            }
            result.append(words[index])
            index += 1
        }
        return result.joined(separator: " ")
    }
}
