import ErrandSupport
import Synchronization

/// The identity of one running request, batch, chain or piece of background work; what accessories and callbacks get.
public final class Activity: Sendable, Identifiable, CustomStringConvertible {
    /// Counted from 1 in a process.
    public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
        public let rawValue: UInt64
        public static func < (a: ID, b: ID) -> Bool { a.rawValue < b.rawValue }
        public var description: String { "#\(rawValue)" }
    }

    public let id: ID
    /// The composite or the request that this one belongs to.
    public let parent: ID?
    public let kind: ActivityKind
    /// The request, if it is one; `activity.request is GetUser` tells its type.
    public let request: (any Request)?
    public let tags: Tags
    public let start: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant?
    let accessories: [any Accessory]
    let bodyByteLimit: Int
    private let listener: (@Sendable (TransferProgress) -> Void)?
    let registry: ActivityRegistry
    private let givenLabel: String?
    private let events: OrderedEvents<ActivityEvent>?
    private let state = Mutex(State())
    private let over = Atomic(false)
    private static let count = Atomic<UInt64>(0)

    private struct State {
        var task: (any CancellableTask)?
        var cause: CancellationCause?
        var outcome: ActivityOutcome?
        var progress = TransferProgress()
        var attempts = 0
        var lastSent: HTTPRequest?
        var checks: [ResponseCheck] = []
        var staged: [StagedWork] = []
        var bodies: [WeakBody] = []
    }

    init(
        _ kind: ActivityKind, request: (any Request)? = nil, label: String? = nil, tags: Tags, parent: ID?,
        deadline: Duration? = nil, accessories: [any Accessory], registry: ActivityRegistry,
        progress listener: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        id = ID(rawValue: Self.count.add(1, ordering: .relaxed).newValue)
        self.kind = kind
        self.request = request
        self.parent = parent
        self.tags = tags
        self.accessories = accessories
        self.registry = registry
        self.listener = listener
        givenLabel = label
        start = registry.time.now
        self.deadline = deadline.map(registry.time.instant(after:))
        events = accessories.isEmpty ? nil : OrderedEvents()
        bodyByteLimit = accessories.reduce(0) { max($0, $1.bodyByteLimit) }
    }

    /// The name for logs: the one given, or the request's type.
    public var label: String {
        givenLabel ?? request?.label ?? request.map { "\(type(of: $0))" } ?? kind.rawValue
    }

    public var description: String { "\(kind) \(id) \(label)" }

    /// How it ended; nil while it runs.
    public var outcome: ActivityOutcome? { state.withLock { $0.outcome } }

    /// The last progress that the transport or the composite told.
    public var progress: TransferProgress { state.withLock { $0.progress } }

    public var isCancelled: Bool { state.withLock { $0.cause != nil } }

    /// Whether it is decided; `next` throws from then on.
    public var isOver: Bool { over.load(ordering: .acquiring) }

    /// Cancels it if it is still undecided; the first cause counts. The outcome is then `.cancelled`, whatever comes back.
    public func cancel() { cancel(.activity) }

    @discardableResult
    func cancel(_ cause: CancellationCause) -> Bool {
        let (isFirst, task) = state.withLock { state -> (Bool, (any CancellableTask)?) in
            guard state.cause == nil, state.outcome == nil else { return (false, nil) }
            state.cause = cause
            return (true, state.task)
        }
        task?.cancel()
        return isFirst
    }

    func attach(_ task: any CancellableTask) {
        let isCancelled = state.withLock { state in
            if state.outcome == nil { state.task = task }
            return state.cause != nil
        }
        if isCancelled { task.cancel() }
    }

    func add(_ check: ResponseCheck) {
        state.withLock { state in
            state.checks.removeAll { $0.name == check.name }
            state.checks.append(check)
        }
    }

    var checks: [ResponseCheck] { state.withLock { $0.checks } }

    func countAttempt() -> Int {
        state.withLock { state in
            state.attempts += 1
            return state.attempts
        }
    }

    /// The evidence for an error: what was built, and then what filters and redirects made of it.
    var lastSent: HTTPRequest? { state.withLock { $0.lastSent } }
    func willSend(_ request: HTTPRequest) { state.withLock { $0.lastSent = request } }

    func stage(_ work: StagedWork) { state.withLock { $0.staged.append(work) } }

    /// Remembers a streamed body, so that a failure after the head ends its transfer.
    func watch(_ body: HTTPBody) {
        state.withLock { state in
            state.bodies.removeAll { $0.reader == nil }
            state.bodies.append(WeakBody(reader: body.reader))
        }
    }

    /// Decides how it ended: a cancellation that came first wins over whatever came back.
    func settle(_ failure: (any Error)?, http: HTTPResponse?) -> Settlement {
        // The request's own code: not under the lock.
        let label = state.withLock { $0.cause } == .deadline ? label : ""
        let (settled, bodies) = state.withLock { state in
            var settled = Settlement(failure: failure, outcome: .success(http?.forOnlookers), staged: state.staged)
            switch state.cause {
            case .deadline?:
                let name = label.isEmpty ? "the call" : label
                var error = ErrandError(.deadlineExceeded, "the deadline of \(name) has passed")
                let known = failure as? ErrandError
                (error.request, error.response) = (state.lastSent ?? known?.request, known?.response)
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
            (state.task, state.lastSent, state.checks) = (nil, nil, [])
            defer { (state.staged, state.bodies) = ([], []) }
            return (settled, state.bodies)
        }
        over.store(true, ordering: .releasing)
        if settled.failure != nil { bodies.forEach { $0.reader?.cancel() } }
        return settled
    }
}

/// How an activity ended, and what to do about it.
struct Settlement: Sendable {
    var failure: (any Error)?
    var outcome: ActivityOutcome
    let staged: [StagedWork]
}

/// What kind of thing an activity is; plugins add their own.
public struct ActivityKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let request = ActivityKind(rawValue: "request")
    public static let batch = ActivityKind(rawValue: "batch")
    public static let chain = ActivityKind(rawValue: "chain")
    /// Work that outlives the call that started it.
    public static let background = ActivityKind(rawValue: "background")
    public var description: String { rawValue }
}

/// Who gave up first.
public enum CancellationCause: Sendable, Hashable {
    /// The task that awaited `send`.
    case task
    /// `RequestHandle.cancel()`.
    case handle
    /// `Activity.cancel()`, by an accessory for instance.
    case activity
    /// `cancelAll` or the end of the agent.
    case agent
    /// The deadline passed; the outcome is then a failure.
    case deadline
    /// A filter, a check, the decoding or the transport threw a cancellation of its own, though none of the above had
    /// cancelled the call. Not the source of a body that is sent: one that was cancelled elsewhere fails the call with
    /// ``ErrandError/Code/bodyEncoding``.
    case within
}

extension Activity {
    /// Tells accessories, in order: what happens while another thread tells, or within an accessory, is told after that.
    func tell(_ event: @autoclosure () -> ActivityEvent) {
        events?.tell(event()) { event in
            for accessory in accessories { accessory.activity(self, did: event) }
        }
    }

    /// Returns when everything told so far has reached the accessories.
    func allTold() async { await events?.allTold() }

    /// Tells accessories and the handle what happens on the wire; a composite tells the progress of the whole. Nothing is
    /// told once the activity is over.
    public func report(_ event: TransportEvent) {
        if isOver { return }
        if case .progress(let progress) = event {
            state.withLock { $0.progress = progress }
            listener?(progress)
        }
        tell(.transport(event))
    }

    /// Tells accessories something worth a line in a log, unless the activity is over.
    public func note(_ name: String, _ message: @autoclosure () -> String, details: (any Sendable)? = nil) {
        if !isOver { tell(.note(ActivityNote(name, message(), details: details))) }
    }
}

/// A task whatever its result.
protocol CancellableTask: Sendable {
    func cancel()
}

extension Task: CancellableTask {}

/// Something to keep if the answer is accepted.
struct StagedWork: Sendable {
    let commit: @Sendable () async -> Void
    let discard: @Sendable () async -> Void
}

struct WeakBody: Sendable {
    weak let reader: BodyReader?
}

extension Error {
    /// Whether it says that somebody gave up, in Swift's words or in Errand's.
    var isCancellation: Bool { self is CancellationError || (self as? ErrandError)?.isCancelled == true }
}
