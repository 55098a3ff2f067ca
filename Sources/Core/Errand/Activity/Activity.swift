public import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// The identity of one running request, batch, chain or piece of background work; what accessories and callbacks get.
public final class Activity: Sendable, Identifiable, CustomStringConvertible {
    /// Counted from 1 in a process.
    public typealias ID = ActivityID

    /// Identifies this activity within the process.
    public let id: ID
    /// The composite or the request that this one belongs to.
    public let parent: ID?
    /// A request, background work, or a kind of a plugin.
    public let kind: ActivityKind
    /// The request, if it is one; `activity.request is GetUser` tests its type.
    public let request: (any Request)?
    /// The request's, with those of the call.
    public let tags: Tags
    /// When it started, by the clock of its agent.
    public let start: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant?
    let maximumBodyBytes: Int
    let registry: ActivityRegistry
    private let givenLabel: String?
    let events: EventQueue?
    /// Collects what belongs to the call.
    let ledger = CallLedger()
    private let state = Mutex(State())
    private let over = Atomic(false)
    /// Whether a cause is set: written under the lock of the state, which most then need not take.
    private let hasCause = Atomic(false)
    /// The same for progress.
    private let hasProgress = Atomic(false)
    private static let count = Atomic<UInt64>(0)

    private struct State {
        var task: Task<Void, Never>?
        var cause: CancellationCause?
        var outcome: ActivityOutcome?
        /// Whether the response is accepted: from then on nothing cancels the activity.
        var isAccepted = false
        var progress = TransferProgress()
    }

    init(
        _ kind: ActivityKind, request: consuming (any Request)? = nil, label: String? = nil, tags: Tags, parent: ID?,
        deadline: Duration? = nil, accessories: [any Accessory],
        registry: ActivityRegistry, progress listener: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        id = ID(rawValue: Self.count.add(1, ordering: .relaxed).newValue)
        self.kind = kind
        self.request = request
        self.parent = parent
        self.tags = tags
        // Asked once, at the start.
        let accessories =
            accessories.allSatisfy { $0.isListening } ? accessories : accessories.filter { $0.isListening }
        self.registry = registry
        givenLabel = label
        let start = registry.time.now
        self.start = start
        self.deadline = deadline.map { start.advanced(by: $0.bounded) }
        events = accessories.isEmpty && listener == nil ? nil : EventQueue(accessories, listener)
        maximumBodyBytes = accessories.reduce(0) { max($0, $1.maximumBodyBytes) }
    }

    /// The name for logs: the one given, the request's label, the type of the request, or the kind; the first that
    /// there is. Control characters are escaped, so that it fits into a line.
    public var label: String {
        if let givenLabel { return ControlCharacters.escaped(givenLabel) }
        guard let request else { return kind.rawValue }
        return request.label.map { ControlCharacters.escaped($0) } ?? "\(type(of: request))"
    }

    /// Kind, number and label, in one line.
    public var description: String { label == kind.rawValue ? "\(kind) \(id)" : "\(kind) \(id) \(label)" }

    /// How it ended; nil while it runs.
    public var outcome: ActivityOutcome? { state.withLock { $0.outcome } }

    /// The last progress that the transport or the composite reported.
    public var progress: TransferProgress {
        hasProgress.load(ordering: .acquiring) ? state.withLock { $0.progress } : TransferProgress()
    }

    /// Whether something has cancelled it.
    public var isCancelled: Bool { hasCause.load(ordering: .acquiring) && state.withLock { $0.cause != nil } }

    /// Whether it is decided; `next` throws from then on.
    public var isOver: Bool { over.load(ordering: .acquiring) }

    /// Cancels it if it is still undecided; the first cause counts. The outcome is then `.cancelled`, whatever comes
    /// back.
    public func cancel() { cancel(.activity) }

    @discardableResult
    func cancel(_ cause: CancellationCause) -> Bool {
        let (isFirst, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.cause == nil, state.outcome == nil, !state.isAccepted else { return (false, nil) }
            state.cause = cause
            hasCause.store(true, ordering: .releasing)
            return (true, state.task)
        }
        task?.cancel()
        return isFirst
    }

    func attach(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            if state.outcome == nil { state.task = task }
            return state.cause != nil
        }
        if isCancelled { task.cancel() }
    }

    /// Accepts the response: no later cancellation takes effect. Throws a cancellation that came first.
    func accept() throws {
        let isAccepted = state.withLock { state in
            if state.cause == nil { state.isAccepted = true }
            return state.isAccepted
        }
        if !isAccepted { throw CancellationError() }
    }

    /// Stores the progress and returns it; nil once the outcome is decided.
    func store(_ progress: TransferProgress, isMeasured: Bool) -> TransferProgress? {
        state.withLock { state in
            guard state.outcome == nil else { return nil }
            state.progress = isMeasured ? progress.following(state.progress) : progress
            hasProgress.store(true, ordering: .releasing)
            return state.progress
        }
    }

    /// The clock of the agent.
    var time: any TimeSource { registry.time }

    /// The accessories that are notified; none once the last event has reached them.
    var accessories: [any Accessory] { events?.accessories ?? [] }

    /// Decides the outcome: a cancellation that came first wins over the response or the failure.
    func settle(_ failure: (any Error)?, http: HTTPResponse?) -> Settlement {
        // The label is the request's own code: not under the lock.
        let (label, lastSent) = isCancelled ? (label, ledger.lastSent) : ("the call", nil)
        let (settled, task) = state.withLock { state in
            var settled = Settlement(failure: failure, outcome: .success(http?.withoutStream))
            switch state.cause {
            case .deadline?:
                var error = ErrandError(.deadlineExceeded, "the deadline of \(label) has passed")
                let known = failure as? ErrandError
                (error.request, error.response) = (lastSent ?? known?.request, known?.response)
                error.activity = id
                (settled.failure, settled.outcome) = (error, .failure(error))
            case let cause?:
                settled.failure = ErrandError(.cancelled, "cancelled by \(cause)")
                settled.outcome = .cancelled(cause)
            case nil:
                if let failure, failure.isCancellation {
                    settled.failure =
                        failure as? ErrandError ?? ErrandError(.cancelled, "cancelled within", underlying: failure)
                    settled.outcome = .cancelled(.within)
                } else if let failure {
                    settled.outcome = failure.isExpectedEnd ? .success(nil) : .failure(failure)
                }
            }
            state.outcome = settled.outcome
            let task = state.task
            state.task = nil
            return (settled, task)
        }
        over.store(true, ordering: .releasing)
        ledger.close(cancelsBodies: settled.failure != nil)
        withExtendedLifetime(task) {}
        return settled
    }
}

extension Activity: TransportObserver {
    var isObserved: Bool { events?.isObserved == true }

    /// Notifies the listener and the accessories, in order: what happens on another thread meanwhile, or within an
    /// accessory, follows. Nothing follows `willStop` but `didStop`, and nothing follows that, whatever reports it.
    func notify(_ event: @autoclosure () -> ActivityEvent) {
        if let events, events.isObserved { events.deliver(event(), of: self) }
    }

    /// The same for the events that end an activity, once its outcome is decided.
    func notifyLast(_ event: @autoclosure () -> ActivityEvent, end: EventQueue.End) {
        guard let events else { return }
        if events.isObserved { return events.deliver(event(), of: self, end: end) }
        // Progress is all that a listener receives, and there is no more of it from the first of these on.
        if end == .events { events.end(self) }
    }

    /// Notifies the handle, the progress listener and the accessories of what happens on the wire; a composite reports
    /// the progress of the whole. While an accessory is slow, only the newest of the waiting progress events is
    /// delivered. Does nothing once the activity is over.
    public func report(_ event: TransportEvent) { report(event, isMeasured: false) }

    /// The same; within one transfer nothing falls that a transport reports, not even the fraction when the length of
    /// the response becomes known.
    func report(_ event: TransportEvent, isMeasured: Bool) {
        if isOver { return }
        guard case .progress(let progress) = event else { return notify(.transport(event)) }
        guard let progress = store(progress, isMeasured: isMeasured) else { return }
        events?.deliver(.transport(.progress(progress)), of: self)
    }

    /// Notifies accessories of a message of a stream, if one of them wants messages. Does nothing once the activity is
    /// over.
    ///
    /// - Parameter message: makes the message, with as many bytes of it at most; not called if no accessory wants it.
    public func report(message: (_ maximumBytes: Int) -> StreamMessage) {
        if observesMessages { notify(.message(message(maximumBodyBytes))) }
    }

    /// Asked for each message, since few activities have any.
    var observesMessages: Bool { events?.accessories.contains { $0.observesMessages } ?? false }

    /// Notifies accessories of something worth a line in a log. Does nothing once the activity is over; staged work
    /// that is committed or discarded still counts as a part of it.
    public func note(
        _ name: String, _ message: @autoclosure () -> String, details: @autoclosure () -> (any Sendable)? = nil
    ) {
        notify(.note(ActivityNote(name, message(), details: details())))
    }
}
