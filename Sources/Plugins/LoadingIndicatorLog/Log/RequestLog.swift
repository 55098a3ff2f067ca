public import Errand
import Synchronization

/// A log of requests, batches and chains: an accessory that tells each when it has ended.
///
/// ```swift
/// let log = RequestLog(.line)                                            // to standard error
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [log])
/// // #7 GET https://api.example.com/users/7 → 200, network, 12.3 ms, 512 bytes
/// ```
///
/// Secrets do not reach it; see ``LogRedaction``. It never reads a body: it gets copies, bounded by its level, of what
/// passes. Records wait in a bounded queue for the sink, so a slow sink holds up no request; what is dropped is counted
/// and told by the next record. Safe to use from anywhere.
public final class RequestLog: Accessory {
    private let setting: Mutex<LogLevel>
    private let queue: LogQueue
    private let time: any TimeSource
    private let drafts = Mutex<[Activity.ID: LogDraft]>([:])
    private let isOff: Atomic<Bool>
    /// Asked for when an agent or a call is given the log; a later `level` asks for no more.
    public let bodyByteLimit: Int

    /// - Parameters:
    ///   - level: how much it tells; one line by default.
    ///   - sink: where to; standard error by default.
    ///   - redaction: what it may show.
    ///   - limit: records that wait for the sink at most; 1000 by default.
    ///   - time: the clock of the agents.
    public init(
        _ level: LogLevel = .line, to sink: some LogSink = StandardErrorSink(),
        redaction: LogRedaction = LogRedaction(), queueing limit: Int = 1000,
        time: some TimeSource = SystemTimeSource()
    ) {
        self.time = time
        setting = Mutex(level)
        isOff = Atomic(level == .off)
        bodyByteLimit = level.bodyByteLimit
        queue = LogQueue(sink, redaction, limit: limit)
    }

    /// How much it tells: whether anything, of what starts from now on; how much, of what ends. Bodies are told only if the log began with them.
    public var level: LogLevel {
        get { setting.withLock { $0 } }
        set {
            setting.withLock { $0 = newValue }
            isOff.store(newValue == .off, ordering: .relaxed)
        }
    }

    /// Returns when everything so far has been written.
    public func flush() async { await queue.flush() }

    /// Whether the level is any but off.
    public var isListening: Bool { !isOff.load(ordering: .relaxed) }

    /// Takes note of an event.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart: drafts.withLock { $0[activity.id] = LogDraft() }
        case .willStop(let outcome):
            guard var draft = drafts.withLock({ $0.removeValue(forKey: activity.id) }) else { return }
            draft.end(outcome)
            let duration = activity.start.duration(to: time.now)
            queue.add(LogQueue.Ended(activity: activity, draft: draft, duration: duration, level: level))
        case .note, .didStop, .redirected: break
        default: drafts.withLock { $0[activity.id]?.add(event, limit: bodyByteLimit) }
        }
    }
}
