import Dispatch
public import Errand
import ErrandSupport
import Synchronization

/// An accessory that logs requests, batches and chains. It writes a record when an activity ends.
///
/// ```swift
/// let log = RequestLog(.line)                                            // to standard error
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [log])
/// // #7 GET https://api.example.com/users/7 → 200, network, HTTP/2, 12.3 ms, 512 bytes
/// ```
///
/// Records never contain secrets. See ``Errand/Redaction``. The log doesn't read bodies. It receives copies of the
/// bytes that are transferred anyway, up to the limit in its level.
///
/// Records wait for the sink in a bounded queue, so a slow sink doesn't delay requests. If the queue is full, the log
/// drops records, and the next record contains their number. You can use a log from any thread.
public final class RequestLog: Accessory {
    private let setting: Mutex<LogLevel>
    private let queue: LogQueue
    private let time: any TimeSource
    private let drafts = Mutex(NumberedTable<LogDraft>())
    private let isOff: Atomic<Bool>
    /// The number of bytes that the log receives from each body. It's determined by the level with which the log was
    /// created.
    public let maximumBodyBytes: Int

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - level: The amount of detail. Defaults to one line per activity.
    ///   - sink: Writes the records. Defaults to a sink for standard error.
    ///   - redaction: The rules for masking secrets.
    ///   - maximumQueue: The maximum number of records waiting for the sink. Defaults to 1,000.
    ///   - time: The time source of the agents that use the log.
    public init(
        _ level: LogLevel = .line, to sink: some LogSink = StandardErrorSink(), redaction: Redaction = Redaction(),
        maximumQueue: Int = 1000, time: some TimeSource = SystemTimeSource()
    ) {
        self.time = time
        setting = Mutex(level)
        isOff = Atomic(level == .off)
        maximumBodyBytes = level.maximumBodyBytes
        queue = LogQueue(sink, redaction, limit: maximumQueue)
    }

    /// The amount of detail. You can change it at any time:
    ///
    /// - A new level applies to activities that end later.
    /// - If you turn the log on or off, this applies to activities that start later.
    /// - Bodies are logged only if the log was created with a `.bodies` level.
    public var level: LogLevel {
        get { setting.withLock { $0 } }
        set {
            setting.withLock { $0 = newValue }
            isOff.store(newValue == .off, ordering: .relaxed)
        }
    }

    /// Waits until all records of activities that have ended so far are written.
    public func flush() async { await queue.flush() }

    /// Returns true for streams, because their notes contain their counts.
    public func observesNotes(of kind: ActivityKind) -> Bool { kind == .stream }

    /// Whether the log receives events. It does unless the level is `.off`.
    public var isListening: Bool { !isOff.load(ordering: .relaxed) }

    /// Adds an event to its activity's record. The agent calls this method.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStop(let outcome):
            let draft = drafts.withLock { $0.remove(activity.id.rawValue) } ?? LogDraft()
            draft.end(outcome)
            let duration = activity.start.duration(to: time.now)
            queue.add(LogQueue.Ended(activity: activity, draft: draft, duration: duration, level: level))
        case .built(let request): draft(of: activity).build(request)
        case .sending(let request, let position): draft(of: activity).send(request, position)
        case .requestBody(let data, let position):
            draft(of: activity).add(sent: data, position, limit: maximumBodyBytes)
        case .received(let response, let position): draft(of: activity).receive(response, position)
        case .responseBody(let data, let position):
            draft(of: activity).add(received: data, position, limit: maximumBodyBytes)
        case .transport(.progress(let progress)): draft(of: activity).report(progress)
        case .transport(.timings(let timings)):
            if let version = timings.httpVersion { draft(of: activity).report(version: version, timings.position) }
        case .note(let note):
            // The types are compared before the cast, because a cast that fails is slower.
            guard let details = note.details, type(of: details) == StreamCount.self, let count = details as? StreamCount
            else { return }
            draft(of: activity).count(count)
        default: break
        }
    }

    private func draft(of activity: Activity) -> LogDraft {
        drafts.withLock { drafts in
            if let known = drafts[activity.id.rawValue] { return known }
            let new = LogDraft()
            drafts.add(new, for: activity.id.rawValue)
            return new
        }
    }
}

/// The queue of finished activities that wait for the sink's thread.
final class LogQueue: Sendable {
    struct Ended: Sendable {
        let activity: Activity
        let draft: LogDraft
        let duration: Duration
        let level: LogLevel
        var dropped = 0
    }

    private struct State {
        var records: [Ended] = []
        var dropped = 0
        var isWriting = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let sink: any LogSink
    private let limit: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "errand-log")
    /// The secrets in the headers of the last record. The queue keeps them from batch to batch, because finding secrets
    /// costs more than writing a record.
    private let secrets: Mutex<HeaderSecrets>

    init(_ sink: any LogSink, _ redaction: Redaction, limit: Int) {
        (self.sink, self.limit) = (sink, max(1, limit))
        secrets = Mutex(HeaderSecrets(redaction))
    }

    func add(_ record: Ended) {
        let starts = state.withLock { state in
            guard state.records.count < limit else {
                state.dropped += 1
                return false
            }
            var record = record
            swap(&record.dropped, &state.dropped)
            state.records.append(record)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        // Records are written in batches, because waking a thread for each record would cost more than all other work.
        if starts { queue.asyncAfter(deadline: .now() + .milliseconds(5)) { self.write() } }
    }

    private func write() {
        var batch: [Ended] = []
        var secrets = secrets.withLock { $0 }
        defer { self.secrets.withLock { $0 = secrets } }
        while true {
            // Only the callers that are waiting for `flush()` now are resumed after this batch. Later callers wait for
            // a later batch.
            let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                swap(&batch, &state.records)
                if batch.isEmpty { state.isWriting = false }
                defer { state.waiters = [] }
                return state.waiters
            }
            for ended in batch {
                sink.write(
                    ended.draft.record(
                        of: ended.activity, after: ended.duration, ended.level, &secrets, dropped: ended.dropped))
            }
            for waiter in waiters { waiter.resume() }
            if batch.isEmpty { return }
            batch.removeAll(keepingCapacity: true)
        }
    }

    func flush() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                if state.isWriting { state.waiters.append(continuation) }
                return !state.isWriting
            }
            if isQuiet { continuation.resume() } else { queue.async { self.write() } }
        }
    }
}

/// The amount of detail in a log.
public enum LogLevel: Sendable, Hashable {
    /// The log doesn't write records.
    case off
    /// The log writes one line for each finished activity.
    case line
    /// The log writes the line, and the header fields of the last request and of its response.
    case headers
    /// The log writes the line, the header fields, and up to this many bytes of each body.
    case bodies(upTo: Int)

    var maximumBodyBytes: Int {
        if case .bodies(let limit) = self { return max(0, limit) }
        return 0
    }

    var hasHeaders: Bool { self != .off && self != .line }
}
