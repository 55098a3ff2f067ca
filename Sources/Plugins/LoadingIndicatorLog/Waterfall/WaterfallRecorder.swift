public import Errand
import ErrandSupport
import Synchronization

import ErrandEssentials

/// Draws what happened as one HTML page: a bar for each request with its phases, batches and chains around their parts.
///
/// ```swift
/// let waterfall = WaterfallRecorder()
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [waterfall])
/// try waterfall.html(title: "Start of the app").write(to: file, atomically: true, encoding: .utf8)
/// ```
///
/// The page stands alone: no script, no font, nothing from elsewhere; light or dark as its reader has it, and readable
/// without colour. Secrets do not reach it; see ``LogRedaction``. The newest activities are kept. Safe to use from
/// anywhere.
public final class WaterfallRecorder: Accessory {
    private struct State {
        var running: [Activity.ID: WaterfallRow] = [:]
        var exchanges: [Activity.ID: HARDraft] = [:]
        var rows: [WaterfallRow] = []
        var dropped = 0
    }

    private let limit: Int
    private let redaction: LogRedaction
    private let time: any TimeSource
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: activities to keep, the newest; 500 by default.
    ///   - redaction: what may be shown.
    ///   - time: the clock of the agents.
    public init(
        activities limit: Int = 500, redaction: LogRedaction = LogRedaction(),
        time: some TimeSource = SystemTimeSource()
    ) {
        (self.limit, self.redaction, self.time) = (max(1, limit), redaction, time)
    }

    /// The page of all that has ended so far, in the order of the starts.
    public func html(title: String = "Requests") -> String {
        let (rows, dropped) = state.withLock { ($0.rows, $0.dropped) }
        return WaterfallPage(title: title, rows: rows, dropped: dropped).html
    }

    /// Takes note of an event.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart:
            var secrets = LogSecrets()
            let label = redaction.url(activity.label, &secrets)
            let row = WaterfallRow(
                id: activity.id, parent: activity.parent, kind: activity.kind, label: label,
                start: activity.start)
            state.withLock { $0.running[activity.id] = row }
        case .sending(let request, let attempt, let hop):
            endExchange(of: activity, nil)
            let draft = HARDraft(request: request, attempt: attempt, hop: hop, date: time.date, start: time.now)
            state.withLock { $0.exchanges[activity.id] = draft }
        case .received(let response, _, _):
            let now = time.now
            change(activity) { draft in
                draft.answered = now
                draft.response = response
                draft.response?.body = HTTPBody(Data())
            }
        case .transport(.timings(let timings)): change(activity) { $0.timings = timings }
        case .willStop(let outcome): end(activity, outcome)
        default: break
        }
    }

    private func change(_ activity: Activity, _ body: (inout HARDraft) -> Void) {
        state.withLock { state in
            guard let index = state.exchanges.index(forKey: activity.id) else { return }
            body(&state.exchanges.values[index])
        }
    }

    private func endExchange(of activity: Activity, _ failure: String?) {
        let now = time.now
        guard var draft = state.withLock({ $0.exchanges.removeValue(forKey: activity.id) }) else { return }
        draft.failure = failure
        let entry = draft.entry(until: now, redaction, "")
        let bar = WaterfallRow.Bar(start: draft.start, attempt: draft.attempt, hop: draft.hop, entry: entry)
        state.withLock { state in
            guard let index = state.running.index(forKey: activity.id) else { return }
            // One that is retried for ever does not grow for ever.
            if state.running.values[index].bars.count < 50 { state.running.values[index].bars.append(bar) }
        }
    }

    private func end(_ activity: Activity, _ outcome: ActivityOutcome) {
        let now = time.now
        var (text, source): (String, String?) = ("succeeded", nil)
        var failure: String?
        switch outcome {
        case .success(let response):
            if let response, response.source != .network { source = response.source.description }
            if let response { text = "\(response.status)" }
        case .failure(let error):
            failure = error.kind
            text = "failed: \(failure ?? "")"
        case .cancelled:
            failure = "cancelled"
            text = "cancelled"
        }
        endExchange(of: activity, failure)
        state.withLock { state in
            guard var row = state.running.removeValue(forKey: activity.id) else { return }
            (row.end, row.outcome, row.source) = (now, text, source)
            if state.rows.count >= limit {
                let extra = max(1, limit / 10)
                state.rows.removeFirst(extra)
                state.dropped += extra
            }
            state.rows.append(row)
        }
    }
}

/// One activity on the page.
struct WaterfallRow: Sendable {
    /// One request on the wire.
    struct Bar: Sendable {
        let start: ContinuousClock.Instant
        let attempt: Int
        let hop: Int
        let entry: HARFile.Entry
    }

    let id: Activity.ID
    let parent: Activity.ID?
    let kind: ActivityKind
    let label: String
    let start: ContinuousClock.Instant
    var end: ContinuousClock.Instant?
    var outcome = ""
    var source: String?
    var bars: [Bar] = []
}
