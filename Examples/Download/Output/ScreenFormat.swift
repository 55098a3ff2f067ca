import ErrandResumableDownload

/// Output for a terminal: a line per running download that is redrawn in place, a total if there are several, and news
/// above them.
struct ScreenFormat: ReportFormat {
    private struct Row {
        var item: ReportItem
        var line: ProgressLine
        var changed: ContinuousClock.Instant
        /// When the next attempt begins.
        var waitsUntil: ContinuousClock.Instant?

        func line(at now: ContinuousClock.Instant) -> ProgressLine {
            var line = line
            if let waitsUntil {
                let left = now.duration(to: waitsUntil)
                line.state = left > .zero ? "waits \(Readable.time(left.components.seconds + 1))" : "connects"
            } else {
                let silence = changed.duration(to: now).components.seconds
                switch line.progress.state {
                case .queued: line.state = "waits for its turn"
                case .connecting where silence < 3: line.state = "connects"
                case .verifying: line.state = "verifies"
                case _ where silence >= 3 && line.progress.fraction != 1:
                    line.state = "silent for \(Readable.time(silence))"
                default: break
                }
            }
            return line
        }
    }

    var size: @Sendable () -> (columns: Int, rows: Int)
    var showsPaths: Bool
    private var rows: [Int: Row] = [:]
    private var drawn = 0
    private var lastDraw: ContinuousClock.Instant?
    private var (complete, failed, bytes) = (0, 0, Int64(0))

    init(showsPaths: Bool = true, size: @escaping @Sendable () -> (columns: Int, rows: Int)) {
        (self.showsPaths, self.size) = (showsPaths, size)
    }

    mutating func texts(for event: ReportEvent, of item: ReportItem, at now: ContinuousClock.Instant) -> [ReportText] {
        switch event {
        case .started:
            let name = item.count > 1 ? item.name : nil
            rows[item.index] = Row(item: item, line: ProgressLine(name: name), changed: now)
            return [.error(redrawn(now))]
        case .progress(let progress):
            guard rows[item.index] != nil else { return [] }
            if rows[item.index]?.line.progress.transferred != progress.transferred { rows[item.index]?.changed = now }
            rows[item.index]?.line.progress = progress
            if case .waiting = progress.state {} else { rows[item.index]?.waitsUntil = nil }
            if let lastDraw, lastDraw.duration(to: now) < .milliseconds(80) { return [] }
            return [.error(redrawn(now))]
        case .retry(let seconds, _):
            rows[item.index]?.waitsUntil = now.advanced(by: .milliseconds(Int64(seconds * 1000)))
            return above(note(event, item), now)
        case .restart, .note: return above(note(event, item), now)
        case .finished(let path, let count, let seconds):
            rows[item.index] = nil
            (complete, bytes) = (complete + 1, bytes + count)
            let rate = seconds > 0 ? ", \(Readable.size(Double(count) / seconds))/s" : ""
            let name = path.split(separator: "/").last.map { TextLayout.printable($0) } ?? item.name
            let words = "\(name): \(Readable.size(count)) in \(Readable.wait(seconds))\(rate)"
            return above([.error(wrapped(words))] + (showsPaths ? [.output(path + "\n")] : []), now)
        case .skipped(let path):
            rows[item.index] = nil
            complete += 1
            return above(note(event, item) + (showsPaths ? [.output(path + "\n")] : []), now)
        case .failed(let message, _):
            rows[item.index] = nil
            failed += 1
            return above([.error(wrapped("errand-download: \(message)"))], now)
        }
    }

    mutating func message(_ text: String) -> [ReportText] {
        [.error(cleared() + wrapped("errand-download: \(text)"))]
    }

    var isAnimated: Bool { true }

    mutating func tick(at now: ContinuousClock.Instant) -> [ReportText] {
        rows.isEmpty ? [] : [.error(redrawn(now))]
    }

    mutating func end(complete: Int, failed: Int, status: ExitStatus) -> [ReportText] { [.error(cleared())] }

    private func note(_ event: ReportEvent, _ item: ReportItem) -> [ReportText] {
        [.error(wrapped((item.count > 1 ? "\(item.name): " : "") + LineFormat.sentence(event)))]
    }

    private func wrapped(_ text: String) -> String {
        TextLayout.wrapped(text, columns: max(20, size().columns - 1), hanging: 2).joined(separator: "\n") + "\n"
    }

    /// Prints permanent lines, and redraws the running downloads below them.
    private mutating func above(_ texts: [ReportText], _ now: ContinuousClock.Instant) -> [ReportText] {
        [.error(cleared())] + texts + [.error(redrawn(now))]
    }

    /// Erases the drawn lines and moves the cursor back to where they began.
    private mutating func cleared() -> String {
        defer { drawn = 0 }
        return drawn == 0 ? "" : "\r" + (drawn > 1 ? "\u{1B}[\(drawn - 1)A" : "") + "\u{1B}[J"
    }

    private mutating func redrawn(_ now: ContinuousClock.Instant) -> String {
        let lines = lines(now)
        lastDraw = now
        let start = drawn == 0 ? "" : "\r" + (drawn > 1 ? "\u{1B}[\(drawn - 1)A" : "")
        let wasDrawn = drawn
        drawn = lines.count
        return start + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\n")
            + (wasDrawn > lines.count ? "\u{1B}[J" : "")
    }

    private func lines(_ now: ContinuousClock.Instant) -> [String] {
        let (columns, height) = size()
        let running = rows.values.sorted { $0.item.index < $1.item.index }
        guard let first = running.first else { return [] }
        let nameWidth = running.map { TextLayout.width($0.item.name) }.max() ?? 0
        let shown = running.prefix(max(1, height - 2))
        var lines = shown.map { $0.line(at: now).text(columns: columns, nameWidth: nameWidth) }
        if first.item.count > 1 { lines.append(total(running, of: first.item.count, columns)) }
        return lines
    }

    /// `3 of 10 complete, 1 failed, 12.3 MiB, 4.0 MiB/s`
    private func total(_ running: [Row], of count: Int, _ columns: Int) -> String {
        let received = running.reduce(bytes) { $0 + $1.line.progress.transferred }
        let rate = running.reduce(0) { $0 + ($1.waitsUntil == nil ? $1.line.progress.rate : 0) }
        var text = "\(complete) of \(count) complete"
        let parts: [String?] = [
            failed > 0 ? "\(failed) failed" : nil, Readable.size(received),
            rate >= 1 ? "\(Readable.size(rate))/s" : nil,
        ]
        for part in parts.compactMap(\.self) where TextLayout.width(text + part) + 2 < columns { text += ", \(part)" }
        return TextLayout.width(text) < columns ? text : ""
    }
}
