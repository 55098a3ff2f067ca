import Errand

/// Rows and bars as HTML.
struct WaterfallPage {
    let title: String
    let rows: [WaterfallRow]
    let dropped: Int

    private static let phases = ["blocked", "dns", "connect", "tls", "wait", "receive"]

    var html: String {
        let origin = rows.map(\.start).min()
        let end = rows.compactMap(\.end).max()
        let total = origin.flatMap { origin in end.map { origin.duration(to: $0) / .milliseconds(1) } } ?? 0
        var body = ""
        if let origin { for (row, depth) in ordered { body += item(row, depth, origin, max(total, 0.001)) } }
        let lost = dropped > 0 ? " \(dropped) before these were dropped." : ""
        let legend = Self.phases.map { "<li><i class=\"\($0)\"></i>\($0)</li>" }.joined()
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(Self.escaped(title))</title>
            <style>\(WaterfallStyle.css)</style>
            </head>
            <body>
            <h1>\(Self.escaped(title))</h1>
            <p>\(rows.count) activities in \(Self.milliseconds(total)).\(lost)</p>
            <ul class="legend">\(legend)</ul>
            <ol>
            \(body)</ol>
            </body>
            </html>

            """
    }

    /// Parts below their whole, both in the order of their starts.
    private var ordered: [(row: WaterfallRow, depth: Int)] {
        let known = Set(rows.map(\.id))
        var children: [Activity.ID: [WaterfallRow]] = [:]
        var roots: [WaterfallRow] = []
        for row in rows.sorted(by: { $0.id < $1.id }) {
            if let parent = row.parent, known.contains(parent) {
                children[parent, default: []].append(row)
            } else {
                roots.append(row)
            }
        }
        var result: [(WaterfallRow, Int)] = []
        var open = roots.reversed().map { ($0, 0) }
        while let (row, depth) = open.popLast() {
            result.append((row, depth))
            open += (children[row.id] ?? []).reversed().map { ($0, depth + 1) }
        }
        return result
    }

    private func item(
        _ row: WaterfallRow, _ depth: Int, _ origin: ContinuousClock.Instant, _ total: Double
    ) -> String {
        let start = origin.duration(to: row.start) / .milliseconds(1)
        let length = row.end.map { row.start.duration(to: $0) / .milliseconds(1) } ?? 0
        var notes = [row.outcome]
        if let source = row.source { notes.append("from \(source)") }
        notes.append(Self.milliseconds(length))
        // What has no label is called by its kind already.
        let isNamed = row.kind != .request && row.label != row.kind.rawValue
        let kind = !isNamed ? "" : "<b>\(Self.escaped(row.kind.rawValue))</b> "
        var bars = Self.bar("whole", start, length, total)
        var lines = ""
        for bar in row.bars {
            var at = origin.duration(to: bar.start) / .milliseconds(1)
            let times = bar.entry.timings
            let tls = max(0, times.ssl)
            let lengths = [times.blocked, times.dns, times.connect - tls, tls, times.wait, times.receive]
            for (phase, length) in zip(Self.phases, lengths) where length > 0 {
                bars += Self.bar(phase, at, length, total)
                at += length
            }
            lines += "<div class=\"wire\">\(Self.escaped(Self.words(bar)))</div>"
        }
        return """
            <li style="--depth:\(min(depth, 8))"><div class="name">\(kind)\(Self.escaped(row.label)) \
            <span>\(Self.escaped(notes.joined(separator: ", ")))</span>\(lines)</div>\
            <div class="track">\(bars)</div></li>

            """
    }

    private static func words(_ bar: WaterfallRow.Bar) -> String {
        let entry = bar.entry
        var words = ["\(entry.request.method) \(entry.request.url)"]
        if entry.response.status > 0 { words.append("\(entry.response.status)") }
        if !entry.response.redirectURL.isEmpty, (300...399).contains(entry.response.status) { words.append("redirect") }
        if bar.attempt > 1 { words.append("attempt \(bar.attempt)") }
        if bar.hop > 1 { words.append("hop \(bar.hop)") }
        words.append(milliseconds(entry.time))
        return words.joined(separator: ", ")
    }

    private static func bar(_ name: String, _ start: Double, _ length: Double, _ total: Double) -> String {
        // A sliver of the shortest is still seen.
        let left = min(max(start / total * 100, 0), 99.85)
        let width = min(max(length / total * 100, 0.15), 100 - left)
        return "<i class=\"\(name)\" style=\"left:\(hundredths(left))%;width:\(hundredths(width))%\"></i>"
    }

    private static func hundredths(_ value: Double) -> String {
        let number = Int((value * 100).rounded())
        let rest = number % 100
        return "\(number / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    private static func milliseconds(_ value: Double) -> String {
        let tenths = Int((min(max(value, 0), 1e12) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    /// Text from anywhere within HTML.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
