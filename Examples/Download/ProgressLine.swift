import ErrandResumableDownload

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Shows progress on standard error: a bar that is drawn over on a terminal, now and then a line otherwise.
struct ProgressLine {
    let isTerminal: Bool
    private var lastTenth = -1
    private var lastBytes: Int64 = 0
    private var isDrawn = false

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    static var standardErrorIsTerminal: Bool { isatty(2) != 0 }

    /// What is to be written for a report; nil for nothing.
    mutating func text(for progress: DownloadProgress, columns: Int) -> String? {
        if isTerminal {
            isDrawn = true
            return "\r" + Self.bar(progress, columns: columns) + "\u{1B}[K"
        }
        // A line for each tenth, or for each 100 MB of who knows how many.
        let tenth = progress.fraction.map { Int($0 * 10) } ?? -1
        let isDue = tenth > lastTenth || tenth < 0 && progress.received - lastBytes >= 100_000_000
        guard isDue else { return nil }
        (lastTenth, lastBytes) = (tenth, progress.received)
        return Self.words(progress) + "\n"
    }

    /// What makes room for other lines.
    mutating func end() -> String {
        defer { isDrawn = false }
        return isDrawn ? "\r\u{1B}[K" : ""
    }

    /// `[#########         ]  50% 1.5 MB of 3.0 MB, 1.2 MB/s, 2 s left`, cut to the width of the terminal.
    static func bar(_ progress: DownloadProgress, columns: Int) -> String {
        let words = words(progress)
        let room = min(40, columns - words.count - 4)
        guard let fraction = progress.fraction, room >= 5 else { return String(words.prefix(max(0, columns - 1))) }
        let full = Int(fraction * Double(room))
        return "[" + String(repeating: "#", count: full) + String(repeating: " ", count: room - full) + "] " + words
    }

    static func words(_ progress: DownloadProgress) -> String {
        var text = size(Double(progress.received))
        if let total = progress.total, let fraction = progress.fraction {
            text = "\(padded(Int(fraction * 100)))% \(text) of \(size(Double(total)))"
        }
        if progress.rate > 0 { text += ", \(size(progress.rate))/s" }
        if let left = progress.timeLeft?.components.seconds, left > 0 { text += ", \(time(left)) left" }
        return text
    }

    static func size(_ bytes: Double) -> String {
        var (value, unit) = (bytes, 0)
        let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        if unit == 0 || value >= 99.95 { return "\(Int(value.rounded())) \(units[unit])" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    private static func padded(_ percent: Int) -> String {
        String(repeating: " ", count: max(0, 3 - "\(percent)".count)) + "\(percent)"
    }

    private static func time(_ seconds: Int64) -> String {
        if seconds < 90 { return "\(seconds) s" }
        return seconds < 5400 ? "\((seconds + 30) / 60) min" : "\((seconds + 1800) / 3600) h"
    }
}
