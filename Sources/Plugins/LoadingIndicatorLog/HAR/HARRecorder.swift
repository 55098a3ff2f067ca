public import Errand
import ErrandSupport
import Synchronization

public import ErrandEssentials

/// Records what went over the wire as an HTTP Archive (HAR 1.2), for the network panel of a browser to open.
///
/// ```swift
/// let recorder = HARRecorder(bodiesUpTo: 4096)
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [recorder])
/// try recorder.encoded().write(to: directory.appending(path: "errand.har"))
/// ```
///
/// An entry for each request on the wire: a retry and a redirect have their own, an answer from a cache has none. Secrets
/// do not reach it; see ``LogRedaction``. The newest entries are kept. Safe to use from anywhere.
public final class HARRecorder: Accessory {
    private struct State {
        var running: [Activity.ID: HARDraft] = [:]
        var entries: [HARFile.Entry] = []
        var dropped = 0
    }

    /// Bytes of each body that an entry holds.
    public let bodyByteLimit: Int
    private let limit: Int
    private let redaction: LogRedaction
    private let time: any TimeSource
    private let state = Mutex(State())

    /// - Parameters:
    ///   - bytes: of each body to keep; none by default.
    ///   - limit: entries to keep, the newest; 1000 by default.
    ///   - redaction: what may be shown.
    ///   - time: the clock of the agents.
    public init(
        bodiesUpTo bytes: Int = 0, entries limit: Int = 1000, redaction: LogRedaction = LogRedaction(),
        time: some TimeSource = SystemTimeSource()
    ) {
        (bodyByteLimit, self.limit) = (max(0, bytes), max(1, limit))
        (self.redaction, self.time) = (redaction, time)
    }

    /// The archive of what has ended so far, as JSON.
    public func encoded() throws -> Data {
        let (entries, dropped) = state.withLock { ($0.entries, $0.dropped) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(
            HARFile(
                log: HARFile.Log(
                    creator: HARFile.Creator(name: "Errand", version: ErrandInfo.version), entries: entries,
                    comment: dropped > 0 ? "\(dropped) entries before these were dropped" : nil)))
    }

    /// Takes note of an event.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .sending(let request, let attempt, let hop):
            end(activity, nil)
            let draft = HARDraft(request: request, attempt: attempt, hop: hop, date: time.date, start: time.now)
            state.withLock { $0.running[activity.id] = draft }
        case .willStop(let outcome): end(activity, outcome)
        case .received(let response, _, _):
            let now = time.now
            change(activity) { draft in
                draft.answered = now
                draft.responseLength = response.body.length
                draft.response = response
                draft.response?.body = HTTPBody(Data())
            }
        case .transport(.timings(let timings)): change(activity) { $0.timings = timings }
        case .transport(.progress(let progress)): change(activity) { $0.progress = progress }
        case .requestBody(let data):
            change(activity) { $0.sent.append(data.prefix(max(0, bodyByteLimit - $0.sent.count))) }
        case .responseBody(let data):
            change(activity) { $0.received.append(data.prefix(max(0, bodyByteLimit - $0.received.count))) }
        default: break
        }
    }

    private func change(_ activity: Activity, _ body: (inout HARDraft) -> Void) {
        state.withLock { state in
            guard let index = state.running.index(forKey: activity.id) else { return }
            body(&state.running.values[index])
        }
    }

    private func end(_ activity: Activity, _ outcome: ActivityOutcome?) {
        guard var draft = state.withLock({ $0.running.removeValue(forKey: activity.id) }) else { return }
        switch outcome {
        case .failure(let error)?: draft.failure = error.kind
        case .cancelled?: draft.failure = "cancelled"
        case .success?, nil: break
        }
        let entry = draft.entry(until: time.now, redaction, activity.label)
        state.withLock { state in
            if state.entries.count >= limit {
                // In lots, so that each entry does not move all others.
                let extra = max(1, limit / 10)
                state.entries.removeFirst(extra)
                state.dropped += extra
            }
            state.entries.append(entry)
        }
    }
}
