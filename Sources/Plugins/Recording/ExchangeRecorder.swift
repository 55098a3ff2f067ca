import Dispatch
public import Errand
import ErrandEssentials
import ErrandRedaction
import ErrandSupport
import Synchronization

/// An accessory that records the requests that agents send, and the responses. You can turn a recording into an HTTP
/// Archive, a waterfall page or counters.
///
/// ```swift
/// let recorder = ExchangeRecorder(maximumBodyBytes: 4096)
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [recorder])
/// try recorder.harFile().encoded().write(to: directory.appending(path: "errand.har"))
/// try recorder.waterfallPage(title: "Start of the app").html
///     .write(to: directory.appending(path: "errand.html"), atomically: true, encoding: .utf8)
/// recorder.metrics.hosts["api.example.com"]?.percentile(99)
/// ```
///
/// The recorder keeps the newest finished exchanges and activities, up to a number and a size. An exchange is a request
/// that was sent, and its response. Several agents can share a recorder. You can use a recorder from any thread.
///
/// Recorded values never contain secrets. See ``Errand/Redaction``. The recorder masks an exchange on its own queue one
/// second after the end of the exchange, or when you read the recording. Masking doesn't delay responses.
///
/// The recorder doesn't read bodies. It receives bounded copies of the bytes that are transferred anyway.
public final class ExchangeRecorder: Accessory {
    private struct State: Sendable {
        var running = NumberedTable<ActivityDraft>()
        var exchanges: BoundedHistory<EndedExchange>
        /// The position of the first exchange that isn't masked yet.
        var clear = 0
        var isMasking = false
        var activities: BoundedHistory<RecordedActivity>
        var metrics: NetworkMetrics
    }

    /// The maximum number of bytes to keep of each body. Defaults to 0.
    public let maximumBodyBytes: Int
    private let maximumExchanges: Int
    private let maximumBytes: Int
    private let maximumHosts: Int
    private let maximumSocketMessages: Int
    private let maximumSocketBytes: Int
    private let redaction: Redaction
    private let time: any TimeSource
    private let origin: ContinuousClock.Instant
    private let state: Mutex<State>
    /// The secrets of the exchange that was masked last. The recorder keeps these secrets, because the next exchange
    /// usually has the same secrets, and finding secrets costs more than masking them.
    private let secrets: Mutex<HeaderSecrets>
    private let queue = DispatchQueue(label: "errand-recorder")

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - maximumBodyBytes: The maximum number of bytes to keep of each body. Defaults to 0.
    ///   - maximumExchanges: The maximum number of exchanges to keep, and of activities. The newest are kept. Defaults
    ///     to 1,000 each. With 0, the recorder only counts, which costs much less.
    ///   - maximumBytes: The approximate memory limit in bytes for exchanges, and for activities. Defaults to 64 MiB
    ///     each.
    ///   - maximumHosts: The maximum number of hosts with separate counters. Defaults to 100.
    ///   - maximumSocketMessages: The maximum number of messages to keep of each WebSocket, with up to
    ///     `maximumBodyBytes` of each message. The newest are kept. Defaults to 1,000.
    ///   - maximumSocketBytes: The approximate memory limit in bytes for a WebSocket's messages. Defaults to 1 MiB.
    ///     Open sockets don't count toward `maximumBytes`.
    ///   - redaction: The rules for masking secrets.
    ///   - time: The time source of the agents that use the recorder.
    public init(
        maximumBodyBytes: Int = 0, maximumExchanges: Int = 1000, maximumBytes: Int = 64 << 20,
        maximumHosts: Int = 100, maximumSocketMessages: Int = 1000, maximumSocketBytes: Int = 1 << 20,
        redaction: Redaction = Redaction(), time: some TimeSource = SystemTimeSource()
    ) {
        (self.maximumExchanges, self.maximumBytes) = (max(0, maximumExchanges), max(0, maximumBytes))
        self.maximumBodyBytes = maximumExchanges > 0 ? max(0, maximumBodyBytes) : 0
        (self.maximumHosts, self.redaction, self.time) = (maximumHosts, redaction, time)
        self.maximumSocketMessages = maximumExchanges > 0 && maximumSocketBytes > 0 ? max(0, maximumSocketMessages) : 0
        self.maximumSocketBytes = maximumSocketBytes
        origin = time.now
        secrets = Mutex(HeaderSecrets(redaction))
        state = Mutex(
            Self.empty(maximumExchanges: maximumExchanges, maximumBytes: maximumBytes, maximumHosts: maximumHosts))
    }

    private static func empty(maximumExchanges: Int, maximumBytes: Int, maximumHosts: Int) -> State {
        State(
            exchanges: BoundedHistory(limit: maximumExchanges, costLimit: maximumBytes),
            activities: BoundedHistory(limit: maximumExchanges, costLimit: maximumBytes),
            metrics: NetworkMetrics(maximumHosts: maximumHosts))
    }

    /// Whether the recorder keeps WebSocket messages. It does unless a limit is 0.
    public var observesMessages: Bool { maximumSocketMessages > 0 }

    /// Returns true for streams, because their notes contain their counts.
    public func observesNotes(of kind: ActivityKind) -> Bool { kind == .stream }

    /// The exchanges and activities that have ended. After them, the recording contains the opening handshakes of open
    /// WebSockets.
    public var recording: Recording { recording(of: state.withLock { $0 }, isKept: true) }

    /// The counters of all activities that have ended, including activities that were dropped from the recording.
    public var metrics: NetworkMetrics { state.withLock { $0.metrics } }

    /// Returns the recording and starts a new recording. An activity that's still running becomes part of the new
    /// recording. An open WebSocket becomes part of both recordings.
    @discardableResult
    public func reset() -> Recording {
        let old = state.withLock { state in
            var new = Self.empty(
                maximumExchanges: maximumExchanges, maximumBytes: maximumBytes, maximumHosts: maximumHosts)
            (new.running, new.isMasking) = (state.running, state.isMasking)
            swap(&new, &state)
            return new
        }
        return recording(of: old, isKept: false)
    }

    private func recording(of state: State, isKept: Bool) -> Recording {
        let sockets = state.running.all.compactMap(\.known.socket)
            .sorted { $0.handshake.start < $1.handshake.start }
        let ended = state.exchanges.all + sockets.map { EndedExchange($0.handshake, $0.ending) }
        return Recording(
            exchanges: withSecrets { secrets in ended.map { $0.masked(&secrets, isKept: isKept) } },
            activities: state.activities.all,
            droppedExchanges: state.exchanges.dropped, droppedActivities: state.activities.dropped,
            metrics: state.metrics)
    }

    /// Records an event. The agent calls this method.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart:
            let draft = ActivityDraft(date: time.date)
            state.withLock { $0.running.add(draft, for: activity.id.rawValue) }
        case .built(let request):
            let host = request.host
            draft(of: activity)?.change { $0.host = host }
        case .sending(let request, let position):
            guard maximumExchanges > 0, let running = draft(of: activity) else { return }
            let now = now
            let draft = ExchangeDraft(request, position, date: time.date, start: now)
            if let ended = running.begin(draft, at: now) { record(ended, of: activity, outcome: nil, at: now) }
        case .transport(.informational), .transport(.trailers), .transport(.waitingForConnectivity): break
        case .received, .requestBody, .responseBody, .transport:
            guard let running = draft(of: activity) else { return }
            let now = now
            let ended = running.add(event, at: now, limit: maximumBodyBytes)
            if let ended { record(ended, of: activity, outcome: nil, at: now) }
        case .message(let message):
            let handshake = draft(of: activity)?.known.socket?.handshake
            handshake?.add(message, at: time.date, limit: maximumBodyBytes)
        case .note(let note):
            // The types are compared before the cast, because a cast that fails is slower.
            guard let details = note.details, type(of: details) == StreamCount.self, let count = details as? StreamCount
            else { return }
            draft(of: activity)?.change { $0.stream = count }
        case .willStop(let outcome): end(activity, outcome)
        default: break
        }
    }

    private var now: Duration { origin.duration(to: time.now) }

    private func draft(of activity: Activity) -> ActivityDraft? { draft(of: activity.id) }

    private func draft(of id: Activity.ID) -> ActivityDraft? {
        state.withLock { $0.running[id.rawValue] }
    }

    private func record(
        _ draft: ExchangeDraft, of activity: Activity, outcome: RecordedOutcome?, at now: Duration
    ) {
        record(draft, ending(of: activity, label: activity.label, outcome: outcome, at: now))
    }

    private func ending(
        of activity: Activity, label: String, outcome: RecordedOutcome?, at now: Duration
    ) -> EndedExchange.Ending {
        EndedExchange.Ending(
            activity: activity.id, parent: activity.parent, label: label, end: now, outcome: outcome)
    }

    private func record(_ draft: ExchangeDraft, _ ending: EndedExchange.Ending) {
        let exchange = EndedExchange(draft, ending)
        let cost = draft.approximateByteCount
        let starts = state.withLock { state in
            state.exchanges.append(exchange, cost: cost)
            defer { state.isMasking = true }
            return !state.isMasking
        }
        // Exchanges are masked later and in batches, so responses aren't delayed. Under load, most exchanges are
        // dropped before they have to be masked.
        if starts { queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.maskEnded() } }
    }

    private func maskEnded() {
        withSecrets { secrets in
            while let (exchange, position) = nextToMask() {
                let cost = exchange.mask(&secrets)
                state.withLock { state in
                    if state.exchanges[position] === exchange { state.exchanges.setCost(cost, at: position) }
                }
            }
        }
    }

    /// Doesn't hold the lock while exchanges are masked, so a reader doesn't wait for the recorder's queue.
    private func withSecrets<Value>(_ mask: (inout HeaderSecrets) -> Value) -> Value {
        var known = secrets.withLock { $0 }
        defer { secrets.withLock { $0 = known } }
        return mask(&known)
    }

    private func nextToMask() -> (EndedExchange, position: Int)? {
        state.withLock { state in
            let position = max(state.clear, state.exchanges.dropped)
            guard let exchange = state.exchanges[position] else {
                state.isMasking = false
                return nil
            }
            state.clear = position + 1
            return (exchange, position)
        }
    }

    private func end(_ activity: Activity, _ outcome: ActivityOutcome) {
        let now = now
        guard let running = state.withLock({ $0.running.remove(activity.id.rawValue) })
        else { return }
        let (draft, label, recorded) = (running.take(), activity.label, RecordedOutcome(outcome))
        for exchange in draft.pending { record(exchange, ending(of: activity, label: label, outcome: nil, at: now)) }
        if let socket = draft.socket { record(socket.handshake, socket.ending) }
        if let exchange = draft.exchange {
            exchange.add(evidence: outcome, limit: maximumBodyBytes)
            let ending = ending(of: activity, label: label, outcome: recorded, at: now)
            if !keepsOpen(exchange, ending) { record(exchange, ending) }
        }
        let ended = ended(
            activity, label: label, startedAt: running.date, draft, outcome: outcome, recorded: recorded, at: now)
        state.withLock { state in
            state.metrics.add(ended)
            state.activities.append(ended, cost: 300 + ended.label.utf8.count)
        }
    }

    private func ended(
        _ activity: Activity, label: String, startedAt date: Date, _ draft: ActivityDraft.State,
        outcome: ActivityOutcome, recorded: RecordedOutcome, at now: Duration
    ) -> RecordedActivity {
        let start = origin.duration(to: activity.start)
        let response: HTTPResponse? = if case .success(let response) = outcome { response } else { nil }
        return RecordedActivity(
            id: activity.id, parent: activity.parent, kind: activity.kind,
            label: maximumExchanges > 0 ? redaction.url(label) : "", host: draft.host, date: date, offset: start,
            duration: now - start, outcome: recorded, status: response?.status, source: response?.source,
            bytesSent: draft.progress.sent, bytesReceived: draft.progress.received, stream: draft.stream)
    }

    private func keepsOpen(_ exchange: ExchangeDraft, _ ending: EndedExchange.Ending) -> Bool {
        guard observesMessages, ending.outcome == .success, exchange.opensSocket, let parent = ending.parent else {
            return false
        }
        guard let running = draft(of: parent) else { return false }
        exchange.keepMessages(upTo: maximumSocketMessages, maximumBytes: maximumSocketBytes)
        let old = running.change { state in
            defer { state.socket = SocketDraft(handshake: exchange, ending: ending) }
            return state.socket
        }
        if let old { record(old.handshake, old.ending) }
        return true
    }
}

/// A history that keeps the newest elements, up to a number and a total cost.
struct BoundedHistory<Element: Sendable>: Sendable {
    private var elements: [(element: Element?, cost: Int)] = []
    /// The index of the first slot in use. Slots before it are empty, and are removed in batches.
    private var first = 0
    private(set) var cost = 0
    private let limit: Int
    private let costLimit: Int
    private(set) var dropped = 0

    init(limit: Int, costLimit: Int) { (self.limit, self.costLimit) = (max(0, limit), max(0, costLimit)) }

    var all: [Element] {
        var all: [Element] = []
        all.reserveCapacity(elements.count - first)
        // This is a loop, because a closure would copy each element once more.
        for index in first..<elements.count { if let element = elements[index].element { all.append(element) } }
        return all
    }

    /// The position after the last element. Positions count all elements that were ever added.
    var end: Int { dropped + elements.count - first }

    subscript(position: Int) -> Element? {
        position < dropped || position >= end ? nil : elements[first + position - dropped].element
    }

    mutating func append(_ element: consuming Element, cost new: Int) {
        elements.append((element, new))
        cost += new
        drop()
    }

    mutating func setCost(_ new: Int, at position: Int) {
        guard self[position] != nil else { return }
        let index = first + position - dropped
        cost += new - elements[index].cost
        elements[index].cost = new
        drop()
    }

    private mutating func drop() {
        while elements.count - first > limit || cost > costLimit, first < elements.count {
            cost -= elements[first].cost
            elements[first].element = nil
            first += 1
            dropped += 1
        }
        if first > elements.count / 2 || first == elements.count {
            elements.removeFirst(first)
            first = 0
        }
    }
}
