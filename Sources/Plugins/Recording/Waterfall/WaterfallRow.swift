import Errand

struct WaterfallRow: Sendable {
    /// The maximum number of exchanges per activity, because a request may be retried forever.
    private static let maximumExchanges = 50

    /// The activity's kind, such as "batch" or "chain". It's nil for a request, and if the label is the kind.
    let kind: String?
    let label: String
    let notes: [String]
    let start: Duration
    let end: Duration
    var exchanges: [RecordedExchange]
    var depth = 0

    /// Returns the rows in order of their start. Parts follow their batch or chain, in order of their start too.
    /// Exchanges without an activity come last.
    static func rows(of recording: Recording) -> [WaterfallRow] {
        var exchanges: [Activity.ID: [RecordedExchange]] = [:]
        var orphans: [RecordedExchange] = []
        for exchange in recording.exchanges {
            guard let activity = exchange.activity else {
                orphans.append(exchange)
                continue
            }
            let count = exchanges[activity]?.count ?? 0
            if count < maximumExchanges { exchanges[activity, default: []].append(exchange) }
        }
        return ordered(recording.activities).map { activity, depth in
            WaterfallRow(activity, exchanges: exchanges[activity.id] ?? [], depth: depth)
        } + orphans.sorted { $0.offset < $1.offset }.map(WaterfallRow.init)
    }

    private static func ordered(_ activities: [RecordedActivity]) -> [(activity: RecordedActivity, depth: Int)] {
        let known = Set(activities.map(\.id))
        var children: [Activity.ID: [RecordedActivity]] = [:]
        var roots: [RecordedActivity] = []
        for activity in activities.sorted(by: { $0.id < $1.id }) {
            // A batch starts before its parts, so its ID is lower. Checking this prevents cycles of parents.
            if let parent = activity.parent, parent < activity.id, known.contains(parent) {
                children[parent, default: []].append(activity)
            } else {
                roots.append(activity)
            }
        }
        var result: [(RecordedActivity, Int)] = []
        var open = roots.reversed().map { ($0, 0) }
        while let (activity, depth) = open.popLast() {
            result.append((activity, depth))
            let parts = children.removeValue(forKey: activity.id) ?? []
            open += parts.reversed().map { ($0, depth + 1) }
        }
        return result
    }

    private init(_ activity: RecordedActivity, exchanges: [RecordedExchange], depth: Int) {
        let isNamed = activity.kind != .request && activity.label != activity.kind.rawValue
        kind = isNamed ? activity.kind.rawValue : nil
        label = activity.label
        var notes = [Self.text(activity.outcome, status: activity.status)]
        if let source = activity.source, source != .network { notes.append("from \(source)") }
        if let stream = activity.stream { notes.append("\(stream)") }
        self.notes = notes
        (start, end) = (activity.offset, activity.offset + max(.zero, activity.duration))
        (self.exchanges, self.depth) = (exchanges, depth)
    }

    private init(_ exchange: RecordedExchange) {
        kind = nil
        label = exchange.label
        notes = [Self.text(exchange.outcome ?? .success, status: exchange.response?.status)]
        (start, end) = (exchange.offset, exchange.offset + max(.zero, exchange.duration))
        exchanges = [exchange]
    }

    private static func text(_ outcome: RecordedOutcome, status: Int?) -> String {
        switch outcome {
        case .success: status.map { "\($0)" } ?? "succeeded"
        case .failure(let name): "failed: \(name)"
        case .cancelled: "cancelled"
        }
    }
}

/// The styles of the phases. Each phase has its own pattern in addition to its color.
enum WaterfallStyle {
    static let css = """
        :root{--page:#fff;--text:#1a1c20;--soft:#4f545c;--line:#d5d8dd;--track:#f1f3f5}
        @media (prefers-color-scheme:dark){:root{--page:#16181d;--text:#eceef1;--soft:#b3b8c2;--line:#363b45;--track:#20242b}}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.5rem 1rem;max-width:90rem;background:var(--page);color:var(--text);
        font:15px/1.45 system-ui,sans-serif}
        h1{font-size:1.3rem;margin:0 0 .25rem;overflow-wrap:anywhere}
        p{margin:0 0 .75rem;color:var(--soft)}
        ul,ol{list-style:none;margin:0;padding:0}
        .legend{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin-bottom:1rem;color:var(--soft)}
        .legend i{display:inline-block;width:1.6rem;height:.8rem;margin-right:.4rem;vertical-align:-.05rem;
        border:1px solid var(--soft)}
        li[style]{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:.25rem 1rem;align-items:start;
        border-top:1px solid var(--line);padding:.4rem 0}
        .name{padding-left:calc(var(--depth)*1.1rem);min-width:0;overflow-wrap:anywhere}
        .name span,.wire{color:var(--soft);font-size:.87em}
        .wire{font-family:ui-monospace,monospace;font-size:.8em}
        .track{position:relative;height:1.5rem;background:var(--track);overflow:hidden}
        .track i{position:absolute;top:.3rem;height:.9rem}
        .track .whole{top:.1rem;height:1.3rem;border:1px solid var(--soft);border-radius:2px}
        .blocked{background:#8a8f98}
        .dns{background:repeating-linear-gradient(90deg,#1f7a8c 0 3px,#9fd3de 3px 6px)}
        .connect{background:repeating-linear-gradient(45deg,#b3541e 0 4px,#f0b48c 4px 8px)}
        .tls{background:repeating-linear-gradient(-45deg,#7a3fa0 0 4px,#d3b2e6 4px 8px)}
        .send{background:repeating-linear-gradient(135deg,#8a6d1f 0 2px,#e3cf94 2px 6px)}
        .wait{background:repeating-linear-gradient(0deg,#2d7d46 0 2px,#a9dcb8 2px 5px)}
        .receive{background:#2b62c4}
        @media (max-width:40rem){li[style]{grid-template-columns:minmax(0,1fr)}.name{padding-left:calc(var(--depth)*.6rem)}}
        @media print{body{max-width:none}}
        """
}

enum HTMLText {
    static func milliseconds(_ value: Double) -> String {
        let tenths = Int((min(max(value, 0), 1e12) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }

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
