import Errand

/// An HTML page that shows a recording. It has a bar for each activity, which shows the phases of the activity's
/// exchanges. Parts of a batch or chain are nested below it.
///
/// ```swift
/// let page = recorder.waterfallPage(title: "Start of the app")
/// try page.html.write(to: file, atomically: true, encoding: .utf8)
/// ```
///
/// The page doesn't load scripts, fonts or images. It supports light and dark mode, and you can read it without color.
public struct WaterfallPage: Sendable {
    /// The page's heading.
    public var title: String
    private let rows: [WaterfallRow]
    private let dropped: Int

    /// Creates a page. An exchange without an activity, for example from a file, gets a separate bar.
    public init(_ recording: Recording, title: String = "Requests") {
        self.title = title
        rows = WaterfallRow.rows(of: recording)
        dropped = recording.droppedActivities
    }

    private static let phases = ["blocked", "dns", "connect", "tls", "send", "wait", "receive"]

    /// The page's HTML.
    public var html: String {
        let origin = rows.map(\.start).min() ?? .zero
        let end = rows.map(\.end).max() ?? .zero
        let total = (end - origin) / .milliseconds(1)
        var body = ""
        for row in rows { body += item(row, from: origin, of: max(total, 0.001)) }
        let lost = dropped > 0 ? " \(dropped) earlier activities were dropped." : ""
        let legend = Self.phases.map { "<li><i class=\"\($0)\"></i>\($0)</li>" }.joined()
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(HTMLText.escaped(title))</title>
            <style>\(WaterfallStyle.css)</style>
            </head>
            <body>
            <h1>\(HTMLText.escaped(title))</h1>
            <p>\(rows.count) activities in \(HTMLText.milliseconds(total)).\(lost)</p>
            <ul class="legend">\(legend)</ul>
            <ol>
            \(body)</ol>
            </body>
            </html>

            """
    }

    private func item(_ row: WaterfallRow, from origin: Duration, of total: Double) -> String {
        let start = (row.start - origin) / .milliseconds(1)
        let length = (row.end - row.start) / .milliseconds(1)
        let notes = row.notes + [HTMLText.milliseconds(length)]
        let kind = row.kind.map { "<b>\(HTMLText.escaped($0))</b> " } ?? ""
        var bars = Self.bar("whole", from: start, length: length, of: total)
        var lines = ""
        for exchange in row.exchanges {
            var at = (exchange.offset - origin) / .milliseconds(1)
            let phases = exchange.phases
            let lengths = [
                phases.blocked, phases.nameLookup, phases.connect, phases.secure, phases.send, phases.wait,
                phases.receive,
            ]
            for (name, duration) in zip(Self.phases, lengths) {
                guard let duration, duration > .zero else { continue }
                let length = duration / .milliseconds(1)
                bars += Self.bar(name, from: at, length: length, of: total)
                at += length
            }
            lines += "<div class=\"wire\">\(HTMLText.escaped(Self.words(exchange)))</div>"
        }
        return """
            <li style="--depth:\(min(row.depth, 8))"><div class="name">\(kind)\(HTMLText.escaped(row.label)) \
            <span>\(HTMLText.escaped(notes.joined(separator: ", ")))</span>\(lines)</div>\
            <div class="track">\(bars)</div></li>

            """
    }

    private static func words(_ exchange: RecordedExchange) -> String {
        var words = ["\(exchange.request.method) \(exchange.request.url)"]
        if let response = exchange.response {
            words.append("\(response.status)")
            if response.redirectURL != nil, (300...399).contains(response.status) { words.append("redirect") }
        }
        if exchange.attempt > 1 { words.append("attempt \(exchange.attempt)") }
        if exchange.hop > 1 { words.append("hop \(exchange.hop)") }
        words.append(HTMLText.milliseconds(exchange.phases.total / .milliseconds(1)))
        return words.joined(separator: ", ")
    }

    private static func bar(_ name: String, from start: Double, length: Double, of total: Double) -> String {
        let left = min(max(start / total * 100, 0), 99.85)
        let width = min(max(length / total * 100, 0.15), 100 - left)
        return "<i class=\"\(name)\" style=\"left:\(hundredths(left))%;width:\(hundredths(width))%\"></i>"
    }

    private static func hundredths(_ value: Double) -> String {
        let number = Int((value * 100).rounded())
        let rest = number % 100
        return "\(number / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
