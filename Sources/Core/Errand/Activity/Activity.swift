public import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// The identity of a running request, batch, chain or piece of background work, passed to accessories and callbacks.
public final class Activity: Sendable, Identifiable, CustomStringConvertible {
    /// Counts from 1 in each process.
    public typealias ID = ActivityID

    /// A number, unique within the process.
    public let id: ID
    /// The composite or request that this activity belongs to.
    public let parent: ID?
    /// A request, background work, or a plugin's own kind.
    public let kind: ActivityKind
    /// The request, if it is one. Test its type with `activity.request is GetUser`.
    public let request: (any Request)?
    /// The request's tags, merged with the tags of the call.
    public let tags: Tags
    /// The start time, by the agent's clock.
    public let start: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant?
    let maximumBodyBytes: Int
    let registry: ActivityRegistry
    private let givenLabel: String?
    let events: EventQueue?
    let ledger = CallLedger()
    private let state = Mutex(State())
    private let over = Atomic(false)
    /// Both flags are set under the lock of the state, so most readers don't need the lock.
    private let hasCause = Atomic(false)
    private let hasProgress = Atomic(false)
    private static let count = Atomic<UInt64>(0)

    private struct State {
        var task: Task<Void, Never>?
        var cause: CancellationCause?
        var outcome: ActivityOutcome?
        /// From then on, the activity can't be cancelled.
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
        // Read once, at the start.
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

    /// The name for logs: the given label, or else the request's label, its type, or the kind. Control characters are
    /// escaped, so it fits on a line.
    public var label: String {
        if let givenLabel { return ControlCharacters.escaped(givenLabel) }
        guard let request else { return kind.rawValue }
        return request.label.map { ControlCharacters.escaped($0) } ?? "\(type(of: request))"
    }

    /// Kind, number and label on one line.
    public var description: String { label == kind.rawValue ? "\(kind) \(id)" : "\(kind) \(id) \(label)" }

    /// How the activity ended. Nil while it's running.
    public var outcome: ActivityOutcome? { state.withLock { $0.outcome } }

    /// The last progress that the transport or the composite reported.
    public var progress: TransferProgress {
        hasProgress.load(ordering: .acquiring) ? state.withLock { $0.progress } : TransferProgress()
    }

    /// Whether the activity was cancelled.
    public var isCancelled: Bool { hasCause.load(ordering: .acquiring) && state.withLock { $0.cause != nil } }

    /// Whether the outcome is decided, after which `next` throws.
    public var isOver: Bool { over.load(ordering: .acquiring) }

    /// Cancels the activity, unless its response is accepted or its outcome is decided. The outcome is then
    /// `.cancelled` with the first cause, regardless of a response.
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

    /// Prevents later cancellations. Throws if the activity was cancelled before.
    func accept() throws {
        let isAccepted = state.withLock { state in
            if state.cause == nil { state.isAccepted = true }
            return state.isAccepted
        }
        if !isAccepted { throw CancellationError() }
    }

    /// Returns nil if the outcome is decided.
    func store(_ progress: TransferProgress, isMeasured: Bool) -> TransferProgress? {
        state.withLock { state in
            guard state.outcome == nil else { return nil }
            state.progress = isMeasured ? progress.following(state.progress) : progress
            hasProgress.store(true, ordering: .releasing)
            return state.progress
        }
    }

    var time: any TimeSource { registry.time }

    /// Empty once they have received the last event.
    var accessories: [any Accessory] { events?.accessories ?? [] }

    /// An earlier cancellation takes precedence over the response or the error.
    func settle(_ failure: (any Error)?, http: HTTPResponse?) -> Settlement {
        // The label runs the request's code, so read it outside the lock.
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
                        failure as? ErrandError ?? ErrandError(.cancelled, "cancelled from within", underlying: failure)
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

    /// Notifies listeners in order. An event from another thread, or from within an accessory, is delivered afterward.
    /// After `willStop` only `didStop` is delivered.
    func notify(_ event: @autoclosure () -> ActivityEvent) {
        if let events, events.isObserved { events.deliver(event(), of: self) }
    }

    /// Delivers the last events, once the outcome is decided.
    func notifyLast(_ event: @autoclosure () -> ActivityEvent, end: EventQueue.End) {
        guard let events else { return }
        if events.isObserved { return events.deliver(event(), of: self, end: end) }
        // The closure receives only progress, which ends here.
        if end == .events { events.end(self) }
    }

    /// Reports an event on the wire to the handle, the progress closure and the accessories. A composite reports its
    /// total progress. A slow accessory receives only the newest waiting progress. Ignored once the activity is over.
    public func report(_ event: TransportEvent) { report(event, isMeasured: false) }

    /// Within a transfer, progress from the transport never decreases, not even its fraction when the response's length
    /// becomes known.
    func report(_ event: TransportEvent, isMeasured: Bool) {
        if isOver { return }
        guard case .progress(let progress) = event else { return notify(.transport(event)) }
        guard let progress = store(progress, isMeasured: isMeasured) else { return }
        events?.deliver(.transport(.progress(progress)), of: self)
    }

    /// Reports a message on a stream to accessories that want messages. Ignored once the activity is over.
    ///
    /// - Parameter message: creates the message, with at most this number of bytes. Called only if an accessory wants
    ///   it.
    public func report(message: (_ maximumBytes: Int) -> StreamMessage) {
        if observesMessages { notify(.message(message(maximumBodyBytes))) }
    }

    /// Evaluated per message, because few activities have messages.
    var observesMessages: Bool { events?.accessories.contains { $0.observesMessages } ?? false }

    /// Sends accessories a message worth logging. Ignored once the activity is over. Committing or discarding staged
    /// work still belongs to the activity.
    public func note(
        _ name: String, _ message: @autoclosure () -> String, details: @autoclosure () -> (any Sendable)? = nil
    ) {
        notify(.note(ActivityNote(name, message(), details: details())))
    }

    /// Sends accessories details worth logging, whose description is the message.
    public func note<Details: Sendable & CustomStringConvertible>(
        _ name: String, describing details: @autoclosure () -> Details
    ) {
        notify(.note(ActivityNote(name, describing: details())))
    }
}

/// The kind of an activity: a request, background work, or a plugin's own kind.
public struct ActivityKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name, for logs.
    public let rawValue: String
    /// Creates a custom kind.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A request.
    public static let request = ActivityKind(rawValue: "request")
    /// Work that outlives the call that started it.
    public static let background = ActivityKind(rawValue: "background")
    /// A response that's read as it arrives. It lasts as long as its reader reads, so it doesn't indicate loading. Each
    /// connection is a separate request with this activity as its parent.
    public static let stream = ActivityKind(rawValue: "stream")
    /// The name.
    public var description: String { rawValue }
}

/// The first cause of a cancellation. More cases can be added, so write a `default` in a `switch`.
public enum CancellationCause: Sendable, Hashable {
    /// The task that awaited `send` was cancelled.
    case task
    /// `RequestHandle.cancel()` was called.
    case handle
    /// `Activity.cancel()` was called, for example by an accessory.
    case activity
    /// `cancelAll` was called, or the agent was deallocated.
    case agent
    /// The deadline passed. The outcome is then a failure.
    case deadline
    /// A filter, a check, the decoding or the transport threw a cancellation, although the call wasn't cancelled. A
    /// cancelled source of a request body instead fails the call with ``ErrandError/Code/encodingFailed``.
    case within
}

struct Settlement: Sendable {
    var failure: (any Error)?
    var outcome: ActivityOutcome
}
