import Errand

/// One bar of the page.
struct WaterfallRow: Sendable {
    /// The maximum number of exchanges to draw per activity, in case a request is retried forever.
    private static let maximumExchanges = 50

    /// "batch", "chain" and so on. `nil` for a request, or if the label is the kind.
    let kind: String?
    let label: String
    /// The outcome, and the source unless it is the network.
    let notes: [String]
    let start: Duration
    let end: Duration
    var exchanges: [RecordedExchange]
    /// The number of composites around the activity.
    var depth = 0

    /// Parts follow their composite, both ordered by start. Exchanges without an activity come last.
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
            WaterfallRow(activity, exchanges[activity.id] ?? [], depth)
        } + orphans.sorted { $0.offset < $1.offset }.map(WaterfallRow.init)
    }

    private static func ordered(_ activities: [RecordedActivity]) -> [(activity: RecordedActivity, depth: Int)] {
        let known = Set(activities.map(\.id))
        var children: [Activity.ID: [RecordedActivity]] = [:]
        var roots: [RecordedActivity] = []
        for activity in activities.sorted(by: { $0.id < $1.id }) {
            // A composite starts before its parts, so this doesn't follow a cycle of parents.
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
            // If an identity occurs twice, show its parts once.
            let parts = children.removeValue(forKey: activity.id) ?? []
            open += parts.reversed().map { ($0, depth + 1) }
        }
        return result
    }

    private init(_ activity: RecordedActivity, _ exchanges: [RecordedExchange], _ depth: Int) {
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
