import ErrandResumableDownload

/// One line of progress for a terminal of any width. Parts that don't fit are left out, never cut.
struct ProgressLine: Equatable {
    /// The file's name, or nil if there is only one file.
    var name: String?
    var progress = TransferStatus(state: .receiving)
    /// Replaces the rate: `waits 3 s`, `silent for 5 s`.
    var state: String?

    /// The maximum combined width of `percent`, `size`, `rate` and `left`.
    static let widest = 58

    /// `film.mp4 [#########         ]  50% 1.5 MiB of 3.0 MiB, 1.2 MiB/s, 2 s left`
    func text(columns: Int, nameWidth: Int = 0) -> String {
        let room = max(1, columns - 1)
        var line = ""
        if let name {
            let share = min(nameWidth, max(8, room < Self.widest + 20 ? room * 2 / 5 : room - Self.widest - 1))
            if room >= 20 { line = TextLayout.shortened(name, to: share).padding(share) + " " }
        }
        let left = room - TextLayout.width(line)
        let barRoom = min(left - Self.widest - 1, 100)
        if let fraction = progress.fraction, barRoom >= 12 {
            let full = Int(fraction * Double(barRoom - 2))
            line += "[" + String(repeating: "#", count: full)
            line += String(repeating: " ", count: barRoom - 2 - full) + "] "
        }
        return line + details(room - TextLayout.width(line))
    }

    /// As many details as fit, most important first.
    private func details(_ room: Int) -> String {
        var text = percent ?? ""
        for forms in [[state], [size, Readable.size(progress.transferred)], [rate], [timeLeft]] {
            for form in forms.compactMap(\.self) {
                let candidate = text.isEmpty ? form : text + (text == percent ? " " : ", ") + form
                if TextLayout.width(candidate) > room { continue }
                text = candidate
                break
            }
        }
        return TextLayout.width(text) <= room ? text : ""
    }

    /// The line in words, for output that isn't a terminal.
    var words: String {
        var text = [percent.map { String($0.trimmed) }, size].compactMap(\.self).joined(separator: " ")
        for detail in [rate, timeLeft].compactMap(\.self) { text += ", " + detail }
        return text
    }

    private var percent: String? {
        progress.fraction.map { fraction in
            let number = "\(Int(fraction * 100))"
            return String(repeating: " ", count: max(0, 3 - number.count)) + number + "%"
        }
    }

    private var size: String {
        let received = Readable.size(progress.transferred)
        return progress.total.map { "\(received) of \(Readable.size($0))" } ?? received
    }

    private var rate: String? { state == nil && progress.rate >= 1 ? "\(Readable.size(progress.rate))/s" : nil }

    private var timeLeft: String? {
        guard state == nil, let seconds = progress.timeLeft?.components.seconds, seconds > 0 else { return nil }
        return "\(Readable.time(seconds)) left"
    }
}

extension String {
    fileprivate var trimmed: Substring { drop { $0 == " " } }
}
