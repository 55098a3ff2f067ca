public import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// A running request, batch, chain or piece of background work, as accessories and callbacks see it.
public final class Activity: Sendable, Identifiable, CustomStringConvertible {
    /// The number of an activity, counted from 1 in each process.
    public typealias ID = ActivityID

    /// The activity's number, unique within the process.
    public let id: ID
    /// The number of the request or ``Composite`` that started this activity, if any.
    public let parent: ID?
    /// Whether this is a request, background work, or a plugin's kind, such as a batch.
    public let kind: ActivityKind
    /// The request as its sender wrote it. Nil for other kinds of activities. Test its type with `activity.request is
    /// GetUser`.
    public let request: (any Request)?
    /// The request's tags, merged with the call's tags, which take precedence.
    public let tags: Tags
    /// When the activity started, by the agent's clock.
    public let start: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant?
    let maximumBodyBytes: Int
    let registry: ActivityRegistry
    private let givenLabel: String?
    let events: EventQueue?
    let ledger = CallLedger()
    private let state = Mutex(State())
    private let over = Atomic(false)
    /// Whether the state contains a cancellation cause. Set under the state's lock. While this is false, readers skip
    /// the lock.
    private let hasCause = Atomic(false)
    private let hasProgress = Atomic(false)
    private static let count = Atomic<UInt64>(0)

    private struct State {
        var task: Task<Void, Never>?
        var cause: CancellationCause?
        var outcome: ActivityOutcome?
        var isAccepted = false
        var progress = TransferProgress()
        /// The label. It's cached, because several accessories read it.
        var label: String?
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
        // Use a single loop over the accessories, because each loop copies the array, and `isListening` can change
        // between two reads.
        var (maximumBodyBytes, observesNotes) = (0, false)
        // The accessories that listen. Nil while all of them do.
        var listening: [any Accessory]?
        for (index, accessory) in accessories.enumerated() {
            guard accessory.isListening else {
                listening = listening ?? Array(accessories[..<index])
                continue
            }
            listening?.append(accessory)
            maximumBodyBytes = max(maximumBodyBytes, accessory.maximumBodyBytes)
            observesNotes = observesNotes || accessory.observesNotes(of: kind)
        }
        let accessories = listening ?? accessories
        self.registry = registry
        givenLabel = label
        let start = registry.time.now
        self.start = start
        self.deadline = deadline.map { start.advanced(by: $0.bounded) }
        events =
            accessories.isEmpty && listener == nil
            ? nil : EventQueue(accessories, observesNotes: observesNotes, listener)
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// The activity's name in logs: the call's label, or else the request's label, the request's type, or the kind.
    /// Control characters are escaped.
    public var label: String {
        if let known = state.withLock({ $0.label }) { return known }
        let label = madeLabel
        state.withLock { $0.label = label }
        return label
    }

    private var madeLabel: String {
        if let givenLabel { return ControlCharacters.escaped(givenLabel) }
        guard let request else { return kind.rawValue }
        return request.label.map { ControlCharacters.escaped($0) } ?? "\(type(of: request))"
    }

    /// The kind, the number and the label, such as "request #7 GetUser".
    public var description: String { label == kind.rawValue ? "\(kind) \(id)" : "\(kind) \(id) \(label)" }

    /// How the activity ended. Nil while it's running.
    public var outcome: ActivityOutcome? { state.withLock { $0.outcome } }

    /// The last progress that the transport or the ``Composite`` reported.
    public var progress: TransferProgress {
        hasProgress.load(ordering: .acquiring) ? state.withLock { $0.progress } : TransferProgress()
    }

    /// Whether the activity was cancelled. A cancelled activity may still run until ``isOver`` is true.
    public var isCancelled: Bool { hasCause.load(ordering: .acquiring) && state.withLock { $0.cause != nil } }

    /// Whether the activity's outcome is decided. From then on, its filters can't send requests, because `next` throws.
    public var isOver: Bool { over.load(ordering: .acquiring) }

    /// Cancels the activity, unless its response was accepted or its outcome is decided.
    ///
    /// The cancelled activity ends with the outcome `.cancelled`, even if a response still arrives. The outcome
    /// contains the cause of the first cancellation.
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

    /// Accepts the response, so later cancellations have no effect. Throws if the activity was cancelled before.
    func accept() throws {
        let isAccepted = state.withLock { state in
            if state.cause == nil { state.isAccepted = true }
            return state.isAccepted
        }
        if !isAccepted { throw CancellationError() }
    }

    func store(_ progress: TransferProgress, isMeasured: Bool) -> TransferProgress? {
        state.withLock { state in
            guard state.outcome == nil else { return nil }
            state.progress = isMeasured ? progress.following(state.progress) : progress
            hasProgress.store(true, ordering: .releasing)
            return state.progress
        }
    }

    /// The agent's clock. An accessory measures how long an activity takes with `activity.time.now - activity.start`.
    public var time: any TimeSource { registry.time }

    /// The accessories that still receive this activity's events. Empty after the last event.
    var accessories: [any Accessory] { events?.accessories ?? [] }

    func settle(_ failure: (any Error)?, http: HTTPResponse?) -> Settlement {
        // Read the label outside the lock, because a request can compute its label. Only a deadline's error needs it,
        // and a deadline cancels the activity first.
        let (label, lastSent) = isCancelled ? (label, ledger.lastSent) : ("", nil)
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
                settled.failure = ErrandError(.cancelled, "cancelled by the \(cause)")
                settled.outcome = .cancelled(cause)
            case nil:
                if let failure, failure.isCancellation {
                    settled.failure =
                        failure as? ErrandError
                        ?? ErrandError(
                            .cancelled,
                            "a filter, a check, the decoding or the transport threw a cancellation error, although "
                                + "the call wasn't cancelled",
                            underlying: failure)
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

    func notify(_ event: @autoclosure () -> ActivityEvent) {
        if let events, events.isObserved { events.deliver(event(), of: self) }
    }

    func notifyLast(_ event: @autoclosure () -> ActivityEvent, end: EventQueue.End) {
        guard let events else { return }
        if events.isObserved { return events.deliver(event(), of: self, end: end) }
        // Without accessories, only the progress closure listens, and it doesn't receive this event.
        if end == .events { events.end(self) }
    }

    /// Reports a network event to the handle, the progress closure and the accessories. Transports, filters and
    /// composites call this method.
    ///
    /// If an accessory is slow, it receives only the newest of several waiting progress values. Events are ignored once
    /// the activity is over.
    public func report(_ event: TransportEvent) { report(event, isMeasured: false) }

    /// Reports a network event. Progress that a transport measured never decreases within a transfer.
    ///
    /// The fraction of such progress doesn't decrease either, although it's based on a larger total once the response's
    /// length is known.
    func report(_ event: TransportEvent, isMeasured: Bool) {
        if isOver { return }
        guard case .progress(let progress) = event else { return notify(.transport(event)) }
        guard let progress = store(progress, isMeasured: isMeasured) else { return }
        events?.deliver(.transport(.progress(progress)), of: self)
    }

    /// Reports a WebSocket message or a streamed event to accessories whose `observesMessages` is true. Ignored once
    /// the activity is over.
    ///
    /// - Parameter message: Creates the message with at most this number of bytes. Called only if an accessory wants
    ///   the message.
    public func report(message: (_ maximumBytes: Int) -> StreamMessage) {
        if observesMessages { notify(.message(message(maximumBodyBytes))) }
    }

    var observesMessages: Bool { events?.accessories.contains { $0.observesMessages } ?? false }

    /// Sends a note to the accessories: a message for logs, and optional details for programs.
    ///
    /// Notes are ignored once the activity is over and its staged work (``Exchange/whenAccepted(_:otherwise:)``) has
    /// been committed or discarded.
    public func note(
        _ name: String, _ message: @autoclosure () -> String, details: @autoclosure () -> (any Sendable)? = nil
    ) {
        if let events, events.observesNotes {
            events.deliver(.note(ActivityNote(name, message(), details: details())), of: self)
        }
    }

    /// Sends a note to the accessories: details for programs, whose description is the message for logs. Notes are
    /// ignored once the activity is over.
    public func note<Details: Sendable & CustomStringConvertible>(
        _ name: String, describing details: @autoclosure () -> Details
    ) {
        if let events, events.observesNotes {
            events.deliver(.note(ActivityNote(name, describing: details())), of: self)
        }
    }
}

/// A request, background work, a stream, or a plugin's kind of activity.
public struct ActivityKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The kind's name in logs, such as "request".
    public let rawValue: String
    /// Creates a kind for a plugin's activities.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A single request, sent with `send` or `start`.
    public static let request = ActivityKind(rawValue: "request")
    /// Background work, which outlives the call that started it.
    public static let background = ActivityKind(rawValue: "background")
    /// A response that is read as it arrives, such as an event stream. Each connection is a separate request with this
    /// activity as its parent.
    ///
    /// The activity lasts as long as its reader reads. Don't show a loading indicator for it.
    public static let stream = ActivityKind(rawValue: "stream")
    /// The kind's name in logs.
    public var description: String { rawValue }
}

/// Why an activity was first cancelled. Later versions may add cases, so include a `default` when you switch.
public enum CancellationCause: Sendable, Hashable {
    /// The task that awaited `send` was cancelled.
    case task
    /// `RequestHandle.cancel()` was called.
    case handle
    /// `Activity.cancel()` was called, for example by an accessory.
    case activity
    /// `cancelAll` was called, or the agent was deallocated.
    case agent
    /// The call's deadline passed. The outcome is then `.failure` with `deadlineExceeded`, not `.cancelled`.
    case deadline
    /// A filter, a check, the decoding or the transport threw a cancellation error, although the call wasn't cancelled.
    /// If the source of a request body is cancelled, the call fails with ``ErrandError/Code/encodingFailed`` instead.
    case within
}

struct Settlement: Sendable {
    var failure: (any Error)?
    var outcome: ActivityOutcome
}
