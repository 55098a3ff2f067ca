public import ErrandHTTP
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
    let bodyByteLimit: Int
    let registry: ActivityRegistry
    /// Its place in the registry, which alone reads and changes it, under its lock.
    nonisolated(unsafe) var place = 0
    private let givenLabel: String?
    let events: EventQueue?
    private let state = Mutex(State())
    private let over = Atomic(false)
    /// Whether anything was cancelled, checked or staged: set under the lock of the state, which most then need not take.
    private let isMarked = Atomic(false)
    /// The same for progress.
    private let hasProgress = Atomic(false)
    private let attempts = Atomic(0)
    private let transfers = Atomic(0)
    private let finalFailureCount = Atomic(0)
    private let deliveries = Atomic(0)
    private static let count = Atomic<UInt64>(0)

    private struct State {
        var task: Task<Void, Never>?
        var cause: CancellationCause?
        var outcome: ActivityOutcome?
        /// Whether what it brought is being put in its place: from then on it can no longer be cancelled.
        var isAccepted = false
        var progress = TransferProgress()
        var lastSent: HTTPRequest?
        var checks: [ResponseCheck] = []
        var staged: [StagedWork] = []
        var bodies: [WeakBody] = []
        var values = CallValues()
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
        start = registry.time.now
        self.deadline = deadline.map(registry.time.instant(after:))
        events = accessories.isEmpty && listener == nil ? nil : EventQueue(accessories, listener)
        bodyByteLimit = accessories.reduce(0) { max($0, $1.bodyByteLimit) }
    }

    /// The name for logs: the one given, or the request's type.
    public var label: String {
        givenLabel ?? request?.label ?? request.map { "\(type(of: $0))" } ?? kind.rawValue
    }

    /// Kind, number and label, in one line.
    public var description: String { label == kind.rawValue ? "\(kind) \(id)" : "\(kind) \(id) \(label)" }

    /// How it ended; nil while it runs.
    public var outcome: ActivityOutcome? { state.withLock { $0.outcome } }

    /// The last progress that the transport or the composite told.
    public var progress: TransferProgress {
        hasProgress.load(ordering: .acquiring) ? state.withLock { $0.progress } : TransferProgress()
    }

    /// Whether something has cancelled it.
    public var isCancelled: Bool { isMarked.load(ordering: .acquiring) && state.withLock { $0.cause != nil } }

    /// Whether it is decided; `next` throws from then on.
    public var isOver: Bool { over.load(ordering: .acquiring) }

    /// Cancels it if it is still undecided; the first cause counts. The outcome is then `.cancelled`, whatever comes back.
    public func cancel() { cancel(.activity) }

    @discardableResult
    func cancel(_ cause: CancellationCause) -> Bool {
        let (isFirst, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.cause == nil, state.outcome == nil, !state.isAccepted else { return (false, nil) }
            state.cause = cause
            isMarked.store(true, ordering: .releasing)
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

    /// Lets nothing cancel it any more. Throws a cancellation if one came first.
    func accept() throws {
        let isAccepted = state.withLock { state in
            if state.cause == nil { state.isAccepted = true }
            return state.isAccepted
        }
        if !isAccepted { throw CancellationError() }
    }

    /// Remembers the progress; nil once the outcome is decided.
    func remember(_ progress: TransferProgress, isMeasured: Bool) -> TransferProgress? {
        state.withLock { state in
            guard state.outcome == nil else { return nil }
            state.progress = isMeasured ? progress.following(state.progress) : progress
            hasProgress.store(true, ordering: .releasing)
            return state.progress
        }
    }

    // What is replaced below is kept until the lock is released: a user's object may go with it, whose end runs code.

    func add(_ check: ResponseCheck) {
        let old = state.withLock { state in
            let old = state.checks
            state.checks = old.filter { $0.name != check.name } + [check]
            isMarked.store(true, ordering: .releasing)
            return old
        }
        withExtendedLifetime(old) {}
    }

    var checks: [ResponseCheck] { isMarked.load(ordering: .acquiring) ? state.withLock { $0.checks } : [] }

    func value<Value>(of key: CallKey<Value>) -> Value? { state.withLock { $0.values.value(of: key) } }

    /// The value that came first; it is made without the lock.
    func once<Value>(_ key: CallKey<Value>, _ make: () -> Value) -> Value {
        if let known = value(of: key) { return known }
        let new = make()
        return state.withLock { state in
            if let known = state.values.value(of: key) { return known }
            state.values.add(new, for: key)
            return new
        }
    }

    /// For work of the call that outlives it; before that begins.
    func adoptValues(of other: Activity) {
        let values = other.state.withLock { $0.values }
        state.withLock { $0.values = values }
    }

    func countAttempt() -> Int { attempts.add(1, ordering: .relaxed).newValue }
    func countTransfer() -> Int { transfers.add(1, ordering: .relaxed).newValue }

    var finalFailures: Int { finalFailureCount.load(ordering: .acquiring) }
    func declareFailureFinal() { finalFailureCount.add(1, ordering: .acquiringAndReleasing) }

    var possibleDeliveries: Int { deliveries.load(ordering: .acquiring) }
    func addDeliveries(_ count: Int) { deliveries.add(count, ordering: .acquiringAndReleasing) }

    /// The evidence for an error: what was built, and then what filters and redirects made of it.
    var lastSent: HTTPRequest? { state.withLock { $0.lastSent } }
    func willSend(_ request: HTTPRequest) {
        let old = state.withLock { state in
            let old = state.lastSent
            state.lastSent = request
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Keeps it until the response is accepted or refused; discards it where that has happened.
    func stage(_ work: StagedWork) {
        let isTooLate = state.withLock { state in
            if state.outcome == nil { state.staged.append(work) }
            isMarked.store(true, ordering: .releasing)
            return state.outcome != nil
        }
        if isTooLate { Task { await work.discard() } }
    }

    private func takeStagedWork() -> [StagedWork] {
        state.withLock { state in
            defer { state.staged = [] }
            return state.staged
        }
    }

    /// The clock of the agent.
    var time: any TimeSource { registry.time }

    /// Remembers a streamed body, so that a failure after the head ends its transfer.
    func watch(_ body: HTTPBody) {
        let readers = state.withLock { state in
            let readers = state.bodies.compactMap(\.reader)
            state.bodies = readers.map { WeakBody($0) } + [WeakBody(body.reader)]
            return readers
        }
        withExtendedLifetime(readers) {}
    }

    var hasStagedWork: Bool { isMarked.load(ordering: .acquiring) && state.withLock { !$0.staged.isEmpty } }

    /// Commits what was staged.
    @inline(never) func commit() async { for work in takeStagedWork() { await work.commit() } }

    /// Discards what was staged.
    @inline(never) func discard() async { for work in takeStagedWork() { await work.discard() } }

    /// Those that are notified; none once the last event has reached them.
    var accessories: [any Accessory] { events?.accessories ?? [] }

    /// Decides how it ended: a cancellation that came first wins over whatever came back.
    func settle(_ failure: (any Error)?, http: HTTPResponse?) -> Settlement {
        // The request's own code: not under the lock.
        let label = isCancelled && state.withLock { $0.cause } == .deadline ? label : ""
        let (settled, left) = state.withLock { state in
            var settled = Settlement(failure: failure, outcome: .success(http?.withoutStream))
            switch state.cause {
            case .deadline?:
                let name = label.isEmpty ? "the call" : label
                var error = ErrandError(.deadlineExceeded, "the deadline of \(name) has passed")
                let known = failure as? ErrandError
                (error.request, error.response) = (state.lastSent ?? known?.request, known?.response)
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
                    settled.outcome = .failure(failure)
                }
            }
            state.outcome = settled.outcome
            let left = (state.bodies, state.checks, state.lastSent, state.task)
            (state.task, state.lastSent, state.checks) = (nil, nil, [])
            state.bodies = []
            return (settled, left)
        }
        over.store(true, ordering: .releasing)
        if settled.failure != nil { left.0.forEach { $0.reader?.cancel() } }
        withExtendedLifetime(left) {}
        return settled
    }
}
