import Errand
import ErrandEssentials
import Synchronization

/// The events of an activity. It contains secrets until the store masks it, one second after the end of the activity.
final class ActivityRecord: Sendable {
    struct Identity: Sendable {
        let id: UInt64
        let parent: UInt64?
        let kind: ActivityKind
        let agent: String?
        let date: Date
        let start: Duration
    }

    struct RequestHead: Sendable {
        let method: HTTPMethod
        let url: String
        let headers: HTTPHeaders
        let contentType: String?
        let length: Int64?
        let heldBytes: Int

        init(_ request: HTTPRequest) {
            (method, url, headers) = (request.method, request.urlText, request.headers)
            (contentType, length) = (request.body.contentType, request.body.length)
            heldBytes = request.body.data?.count ?? 0
        }
    }

    struct ResponseHead: Sendable {
        let status: Int
        let version: String?
        let headers: HTTPHeaders
        let length: Int64?
        let source: ResponseSource

        init(_ response: HTTPResponse) {
            (status, version, headers) = (response.status, response.version, response.headers)
            (length, source) = (response.body.length, response.source)
        }
    }

    struct Hop: Sendable {
        let request: RequestHead
        let position: TransferPosition
        let date: Date
        let start: Duration
        var end: Duration?
        var timeToHead: Duration?
        var response: ResponseHead?
        /// The transport's event with the timings. Keeping the event is cheaper than copying its many fields.
        var timings: TransportEvent?
        var sent = Data()
        var received = Data()
        var receivedCount: Int64 = 0
    }

    struct Note: Sendable {
        let note: ActivityNote
        let at: Duration
    }

    struct Message: Sendable {
        let message: StreamMessage
        let date: Date
    }

    struct Failure: Sendable {
        let name: String
        let description: String
        let sentence: String
    }

    enum Ending: Sendable {
        case success
        case failure(Failure)
        case cancelled(String)
    }

    struct State: Sendable {
        let label: String
        var masked: Masked?
        var request: (any Request)?
        var built: RequestHead?
        var hops: [Hop] = []
        var droppedHops = 0
        var notes: [Note] = []
        var droppedNotes = 0
        var messages: [Message] = []
        var droppedMessages = 0
        var messageCount = 0
        var progress: TransferProgress?
        var stream: StreamCount?
        var other: (head: ResponseHead, body: Data, length: Int64)?
        var source: ResponseSource?
        var status: Int?
        var ending: Ending?
        var end: Duration?
        var bytes = 0
        var isChanged = false

        init(label: String) { self.label = label }
    }

    /// The activity without its secrets. This is a class, so a state can refer to it without becoming larger.
    final class Masked: Sendable {
        let activity: MaskedActivity
        init(_ activity: MaskedActivity) { self.activity = activity }
    }

    let identity: Identity
    /// The approximate memory use in bytes. It's set after the activity has ended. The store's lock protects it.
    let cost = Atomic(0)
    private let state: Mutex<State>

    var id: UInt64 { identity.id }

    /// Creates a record. It doesn't keep the activity, because an activity keeps its agent and accessories alive.
    init(_ activity: Activity, agent: String?, date: Date, start: Duration) {
        identity = Identity(
            id: activity.id.rawValue, parent: activity.parent?.rawValue, kind: activity.kind, agent: agent, date: date,
            start: start)
        state = Mutex(State(label: activity.label))
    }

    var known: State { state.withLock { $0 } }

    func keep(_ masked: MaskedActivity) {
        let old = state.withLock { state in
            let old = state
            state = masked.state
            (state.masked, state.isChanged) = (Masked(masked), old.isChanged)
            return old
        }
        withExtendedLifetime(old) {}
    }

    func markChanged() -> Bool {
        state.withLock { state in
            defer { state.isChanged = true }
            return !state.isChanged
        }
    }

    func unmark() { state.withLock { $0.isChanged = false } }

    @discardableResult
    func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value? {
        state.withLock { state in state.end == nil ? body(&state) : nil }
    }
}

extension ActivityRecord.State {
    /// The maximum number of requests to keep per activity, because a request may be retried or redirected forever. The
    /// first request is always kept.
    static let maximumHops = 64
    static let maximumNotes = 200
    /// The memory in bytes that a message or note uses in addition to its content.
    static let overhead = 200

    mutating func add(_ hop: ActivityRecord.Hop) {
        if let last = hops.indices.last, hops[last].response == nil, hops[last].end == nil {
            hops[last].end = hop.start
        }
        if hops.count >= Self.maximumHops {
            hops.remove(at: 1)
            droppedHops += 1
        }
        hops.append(hop)
    }

    mutating func add(_ note: ActivityRecord.Note) {
        if notes.count >= Self.maximumNotes {
            notes.removeFirst()
            droppedNotes += 1
        }
        notes.append(note)
    }

    mutating func add(_ message: ActivityRecord.Message, limit: Int) -> Int {
        var change = Self.overhead + message.message.data.count
        messageCount += 1
        messages.append(message)
        // The messages are removed in batches, because removing the first element moves all others.
        if messages.count > limit + limit / 4 {
            let surplus = messages.count - limit
            change -= messages.prefix(surplus).reduce(0) { $0 + Self.overhead + $1.message.data.count }
            messages.removeFirst(surplus)
            droppedMessages += surplus
        }
        bytes += change
        return change
    }

    /// Returns the index of a request. A transport that a test calls directly reports timings without a position.
    func index(of position: TransferPosition?) -> Int? {
        guard let position else { return hops.indices.last }
        return hops.lastIndex { $0.position == position }
    }

    func withoutSecrets(_ failure: ActivityRecord.Failure?) -> Self {
        var kept = Self(label: "")
        (kept.droppedHops, kept.droppedNotes, kept.droppedMessages) = (droppedHops, droppedNotes, droppedMessages)
        (kept.messageCount, kept.progress, kept.stream) = (messageCount, progress, stream)
        (kept.source, kept.status, kept.end) = (source, status, end)
        kept.ending = failure.map { .failure($0) } ?? ending
        return kept
    }

    var cost: Int {
        var cost = 800 + label.utf8.count + bytes + Self.overhead * notes.count
        if request != nil, let built { cost += built.heldBytes }
        if let built { cost += built.cost }
        if let other { cost += other.head.cost }
        for hop in hops { cost += 300 + hop.request.cost + (hop.response?.cost ?? 0) }
        return cost
    }
}

extension ActivityRecord.RequestHead {
    var cost: Int { url.utf8.count + headers.cost }
}

extension ActivityRecord.ResponseHead {
    var cost: Int { headers.cost }
}

extension HTTPHeaders {
    fileprivate var cost: Int { reduce(0) { $0 + 80 + $1.value.utf8.count } }
}
