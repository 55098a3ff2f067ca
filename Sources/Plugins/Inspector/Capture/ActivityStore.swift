import Dispatch
import Errand
import ErrandCollections
import ErrandEssentials
import ErrandPlatform
import ErrandSupport
import Synchronization

final class ActivityStore: Sendable {
    struct Limits: Sendable {
        var activities: Int
        var bodyBytes: Int
        var bytes: Int
        var messages: Int
    }

    fileprivate struct State: Sendable {
        var records = NumberedTable<ActivityRecord>()
        var running = 0
        var ended = FIFOQueue<ActivityRecord>()
        var clear = FIFOQueue<ActivityRecord>()
        var isMasking = false
        var cost = 0
        var dropped = 0
        /// The activities that have changed since the last call of `takeChanged()`. It's empty while the page isn't
        /// open.
        var changed: [ActivityRecord] = []
        var bell: Bell?
        var clears = 0
    }

    let isListening = Atomic(false)
    private let isWatched = Atomic(false)
    private let runningBytes = Atomic(0)
    let limits: Limits
    let redaction: Redaction
    private let time: any TimeSource
    private let origin: ContinuousClock.Instant
    private let explain: @Sendable (any Request, _ agent: String?) -> String?
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "errand-inspector", qos: .utility)

    init(
        _ limits: Limits, _ redaction: Redaction = Redaction(), time: any TimeSource,
        explain: @escaping @Sendable (any Request, _ agent: String?) -> String? = { _, _ in nil }
    ) {
        (self.limits, self.redaction, self.time, origin, self.explain) = (limits, redaction, time, time.now, explain)
    }

    var now: Duration { origin.duration(to: time.now) }

    // MARK: Recording

    func record(_ event: ActivityEvent, of activity: Activity, agent: String?) {
        switch event {
        case .willStart: begin(activity, agent)
        case .built(let request):
            guard let record = record(activity) else { return }
            let head = ActivityRecord.RequestHead(request)
            record.change { $0.built = head }
            changed(record)
        case .sending(let request, let position):
            guard let record = record(activity) else { return }
            let draft = ActivityRecord.Hop(
                request: ActivityRecord.RequestHead(request), position: position, date: time.date, start: now)
            record.change { $0.add(draft) }
            changed(record)
        case .received(let response, let position):
            guard let record = record(activity) else { return }
            let (head, now) = (ActivityRecord.ResponseHead(response), now)
            record.change { state in
                guard let index = state.index(of: position) else { return }
                state.hops[index].response = head
                state.hops[index].timeToHead = now - state.hops[index].start
                state.hops[index].end = nil
            }
            changed(record)
        case .requestBody(let data, let position): add(data, of: activity, position, isResponse: false)
        case .responseBody(let data, let position): add(data, of: activity, position, isResponse: true)
        case .transport(let event): record(event, activity)
        case .message(let message): add(message, of: activity)
        case .note(let note): add(note, of: activity)
        case .willStop(let outcome): end(activity, outcome)
        default: break
        }
    }

    private func record(_ activity: Activity) -> ActivityRecord? {
        state.withLock { $0.records[activity.id.rawValue] }
    }

    private func begin(_ activity: Activity, _ agent: String?) {
        let record = ActivityRecord(activity, agent: agent, date: time.date, start: origin.duration(to: activity.start))
        let limit = limits.activities
        let isKept = state.withLock { state in
            guard state.running < limit, state.records[record.id] == nil else {
                state.dropped += 1
                return false
            }
            state.running += 1
            state.records.add(record, for: record.id)
            return true
        }
        if isKept { changed(record) }
    }

    private func record(_ event: TransportEvent, _ activity: Activity) {
        guard let record = record(activity) else { return }
        let now = now
        record.change { state in
            switch event {
            case .timings(let timings):
                guard let index = state.index(of: timings.position) else { return }
                state.hops[index].timings = event
                state.hops[index].end = now
            case .progress(let progress): state.progress = progress
            case .informational(let status, let headers):
                state.add(
                    ActivityRecord.Note(
                        note: ActivityNote("transport", "received \(status), \(headers.count) fields"), at: now))
            case .trailers(let headers):
                let names = headers.map { $0.name.rawName }.joined(separator: ", ")
                state.add(ActivityRecord.Note(note: ActivityNote("transport", "received trailers: \(names)"), at: now))
            case .waitingForConnectivity:
                state.add(ActivityRecord.Note(note: ActivityNote("transport", "waits for a network"), at: now))
            }
        }
        changed(record)
    }

    private func add(_ data: Data, of activity: Activity, _ position: TransferPosition, isResponse: Bool) {
        guard let record = record(activity) else { return }
        let (limit, isFull) = (limits.bodyBytes, isFull)
        let count = record.change { state -> Int in
            guard let index = state.index(of: position) else { return 0 }
            if isResponse { state.hops[index].receivedCount += Int64(data.count) }
            if isFull { return 0 }
            let count =
                isResponse
                ? Self.append(data, to: &state.hops[index].received, limit)
                : Self.append(data, to: &state.hops[index].sent, limit)
            state.bytes += count
            return count
        }
        if let count, count > 0 { runningBytes.add(count, ordering: .relaxed) }
        changed(record)
    }

    private func add(_ message: StreamMessage, of activity: Activity) {
        guard let record = record(activity) else { return }
        var message = message
        let limit = isFull ? 0 : limits.bodyBytes
        if message.data.count > limit { message.data = Self.copy(message.data.prefix(limit)) }
        let kept = ActivityRecord.Message(message: message, date: time.date)
        let maximum = limits.messages
        let change = record.change { $0.add(kept, limit: maximum) }
        runningBytes.add(change ?? 0, ordering: .relaxed)
        changed(record)
    }

    private func add(_ note: ActivityNote, of activity: Activity) {
        guard let record = record(activity) else { return }
        let now = now
        // The types are compared before the cast, because a cast that fails is slower.
        if let details = note.details, type(of: details) == StreamCount.self, let count = details as? StreamCount {
            record.change { $0.stream = count }
        } else {
            let kept = ActivityRecord.Note(note: note, at: now)
            record.change { $0.add(kept) }
        }
        changed(record)
    }

    private var isFull: Bool { runningBytes.load(ordering: .relaxed) >= limits.bytes }

    private static func append(_ data: Data, to copy: inout Data, _ limit: Int) -> Int {
        if copy.isEmpty, data.count <= limit {
            copy = data
            return data.count
        }
        let count = min(data.count, max(0, limit - copy.count))
        if count > 0 { copy.append(data.prefix(count)) }
        return count
    }

    /// Copies a slice, because a slice would keep the whole buffer.
    private static func copy(_ slice: Data) -> Data { Data([UInt8](slice)) }

    private func end(_ activity: Activity, _ outcome: ActivityOutcome) {
        guard let record = record(activity) else { return }
        let now = now
        let failure: ActivityRecord.Failure? = if case .failure(let error) = outcome { failure(error) } else { nil }
        let other = other(outcome)
        let limit = limits.bodyBytes
        let maximumHeldBytes = limits.bytes / 4
        let ended = record.change { state -> (Int, Int) in
            state.end = now
            // Keeps the request with its body until the agent has explained the request.
            if let built = state.built, built.heldBytes <= maximumHeldBytes { state.request = activity.request }
            switch outcome {
            case .success(let response):
                (state.ending, state.status, state.source) = (.success, response?.status, response?.source)
            case .failure(let error):
                state.ending = failure.map { .failure($0) }
                state.add(evidence: error, limit: limit)
            case .cancelled(let cause): state.ending = .cancelled("\(cause)")
            }
            if let last = state.hops.indices.last, state.hops[last].end == nil { state.hops[last].end = now }
            let counted = state.bytes
            if let other {
                state.other = other
                state.bytes += other.body.count
            }
            return (counted, state.cost)
        }
        guard let (bytes, cost) = ended else { return }
        if bytes > 0 { runningBytes.subtract(bytes, ordering: .relaxed) }
        record.cost.store(cost, ordering: .relaxed)
        let limits = limits
        let (evicted, starts) = state.withLock { state -> ([ActivityRecord], Bool) in
            state.running -= 1
            state.ended.append(record)
            state.clear.append(record)
            state.cost += cost
            let evicted = state.evict(limits)
            defer { state.isMasking = true }
            return (evicted, !state.isMasking)
        }
        changed(record)
        withExtendedLifetime(evicted) {}
        if starts { maskLater() }
    }

    private func failure(_ error: any Error) -> ActivityRecord.Failure {
        ActivityRecord.Failure(
            name: Redaction.name(of: error), description: String(error.briefDescription.prefix(16_384)),
            sentence: FailureSentence.text(of: error))
    }

    private func other(
        _ outcome: ActivityOutcome
    ) -> (head: ActivityRecord.ResponseHead, body: Data, length: Int64)? {
        guard case .success(let response?) = outcome, response.source != .network else { return nil }
        let data = response.data
        let body = data.count <= limits.bodyBytes ? data : Self.copy(data.prefix(limits.bodyBytes))
        return (ActivityRecord.ResponseHead(response), body, response.body.length ?? Int64(data.count))
    }

    // MARK: Masking

    /// Masks activities later and in batches, so responses aren't delayed. Under load, most activities are dropped
    /// before they have to be masked.
    private func maskLater() {
        queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.maskEnded() }
    }

    private func maskEnded() {
        for _ in 0..<state.withLock({ $0.clear.count }) {
            guard let record = state.withLock({ $0.clear.popFirst() }) else { break }
            mask(record)
        }
        let continues = state.withLock { state in
            state.isMasking = !state.clear.isEmpty
            return state.isMasking
        }
        if continues { maskLater() }
    }

    private func mask(_ record: ActivityRecord) {
        let masked = MaskedActivity(record, redaction).kept { explain($0, record.identity.agent) }
        record.keep(masked)
        let (cost, limits) = (masked.cost, limits)
        let evicted = state.withLock { state -> [ActivityRecord] in
            guard state.records[record.id] === record else { return [] }
            state.cost += cost - record.cost.exchange(cost, ordering: .relaxed)
            return state.evict(limits)
        }
        withExtendedLifetime(evicted) {}
    }

    func masked(_ record: ActivityRecord) -> MaskedActivity {
        let activity = MaskedActivity(record, redaction)
        return record.known.end == nil ? activity : activity.kept { explain($0, record.identity.agent) }
    }

    // MARK: Reading

    var dropped: Int { state.withLock { $0.dropped } }

    var clears: Int { state.withLock { $0.clears } }

    func record(_ id: UInt64) -> ActivityRecord? { state.withLock { $0.records[id] } }

    var all: [ActivityRecord] {
        let all = state.withLock { $0.records.all }
        return all.sorted { $0.id < $1.id }
    }

    func clear() {
        let old = state.withLock { state -> [ActivityRecord] in
            var old: [ActivityRecord] = []
            while let record = state.ended.popFirst() {
                state.records.remove(record.id)
                old.append(record)
            }
            while state.clear.popFirst() != nil {}
            state.cost = 0
            state.clears += 1
            return old
        }
        withExtendedLifetime(old) {}
        ring()
    }

    // MARK: Watching

    func watch(ringing bell: Bell?) {
        let old = state.withLock { state in
            defer { state.changed = [] }
            state.bell = bell
            return state.changed
        }
        isWatched.store(bell != nil, ordering: .relaxed)
        for record in old { record.unmark() }
        if bell != nil { for record in all { record.unmark() } }
    }

    func takeChanged() -> [ActivityRecord] {
        let changed = state.withLock { state in
            defer { state.changed = [] }
            return state.changed
        }
        for record in changed { record.unmark() }
        return changed
    }

    private func changed(_ record: ActivityRecord) {
        guard isWatched.load(ordering: .relaxed), record.markChanged() else { return }
        state.withLock { state in
            guard let bell = state.bell else { return }
            state.changed.append(record)
            // The bell rings while the lock is held, so it can't be closed in the meantime. Its pipe doesn't fill up,
            // because the bell rings only once until `takeChanged()` is called.
            if state.changed.count == 1 { bell.ring() }
        }
    }

    private func ring() { state.withLock { $0.bell?.ring() } }
}

extension ActivityRecord.State {
    /// Adds the response that an error contains. The transport may have failed after it received the response's head.
    fileprivate mutating func add(evidence error: any Error, limit: Int) {
        guard let evidence = (error as? ErrandError)?.response, evidence.source == .network,
            let last = hops.indices.last, hops[last].response == nil
        else { return }
        hops[last].response = ActivityRecord.ResponseHead(evidence)
        if hops[last].received.isEmpty {
            hops[last].received = Data([UInt8](evidence.data.prefix(limit)))
            bytes += hops[last].received.count
        }
    }
}

extension ActivityStore.State {
    fileprivate mutating func evict(_ limits: ActivityStore.Limits) -> [ActivityRecord] {
        var evicted: [ActivityRecord] = []
        while ended.count > limits.activities || cost > limits.bytes, let old = ended.popFirst() {
            cost -= old.cost.load(ordering: .relaxed)
            records.remove(old.id)
            dropped += 1
            evicted.append(old)
        }
        while clear.count > ended.count, clear.popFirst() != nil {}
        return evicted
    }
}
