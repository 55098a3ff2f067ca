import Errand
import ErrandEssentials
import Synchronization

/// The current credential, and the one refresh that may run.
///
/// A credential has a version, which every change counts up. A refresh belongs to the version that it replaces; what comes
/// of it is dropped if that is no longer the current one.
///
/// Not generic: what is generic beyond its module looks up metadata at each step of each request.
final class CredentialKeeper: Sendable {
    typealias Handler = @Sendable (_ old: (any Credential)?) async throws -> (any Credential)?

    /// A credential for one sending of one request.
    struct Lease: Sendable {
        let credential: any Credential
        /// All that the credential adds, where that is known.
        let field: HTTPHeaders.Field?
        /// Whether a refresh has made it for those that waited.
        var isFresh = false
        fileprivate let version: UInt64
        /// How many refreshes had failed when the request was sent.
        fileprivate let failures: UInt64

        fileprivate init(
            _ credential: any Credential, _ field: HTTPHeaders.Field?, _ version: UInt64, _ failures: UInt64
        ) {
            (self.credential, self.field) = (credential, field)
            (self.version, self.failures) = (version, failures)
        }
    }

    /// Why a request asks for a credential.
    enum Need: Sendable {
        /// For its key in a cache: any credential will do, expired or not.
        case any
        /// To be sent at this date.
        case valid(at: Date)
        /// Its lease was refused; whether a refresh has followed another refusal of the same request.
        case refused(Lease, isRepeated: Bool)
    }

    enum Outcome: Sendable {
        case ready(Lease)
        case failed(AuthenticationError)
        /// Nothing can be done about the refusal.
        case refused
        case cancelled
    }

    private struct Run {
        let id: UInt64
        var waiting: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
        var tasks: [Task<Void, Never>] = []
    }

    private struct State {
        var credential: (any Credential)?
        var field: HTTPHeaders.Field?
        var expiry: Date?
        var version: UInt64 = 0
        /// Said to be expired by the app.
        var isExpired = false
        /// Expired by the clock of this machine when it came: so that clock, or the server's, is wrong, and the server decides.
        var ignoresExpiry = false
        var run: Run?
        var failures: UInt64 = 0
        /// What the last failed refresh of this version threw.
        var failure: AuthenticationError?
        var lastID: UInt64 = 0

        var lease: Lease? { credential.map { Lease($0, field, version, failures) } }

        mutating func nextID() -> UInt64 {
            lastID += 1
            return lastID
        }

        init(_ credential: (any Credential)?) { set(credential) }

        private mutating func set(_ new: (any Credential)?) {
            credential = new
            (field, expiry) = ((new as? any FixedCredential)?.field, new?.expiry)
        }

        mutating func replace(_ new: (any Credential)?, ignoringExpiry: Bool = false) {
            set(new)
            version += 1
            (isExpired, ignoresExpiry, failure) = (false, ignoringExpiry, nil)
        }
    }

    private let handler: Handler?
    private let timeout: Duration
    private let state: Mutex<State>

    init(_ credential: (any Credential)?, timeout: Duration, handler: Handler?) {
        (self.timeout, self.handler) = (timeout, handler)
        state = Mutex(State(credential))
    }

    var credential: (any Credential)? { state.withLock { $0.credential } }

    /// Whether there is a handler.
    var isRenewable: Bool { handler != nil }

    /// The field of the credential, where that is all it adds: for the key of a cache, expired or not.
    var field: HTTPHeaders.Field? { state.withLock { $0.field } }

    /// A credential that is there and has not expired, without a wait; nil where that takes more than a look.
    func ready(_ time: any TimeSource) -> Lease? {
        let (lease, expiry) = state.withLock { state -> (Lease?, Date?) in
            if handler == nil { return (state.lease, nil) }
            if state.isExpired || state.run != nil { return (nil, nil) }
            return (state.lease, state.ignoresExpiry ? nil : state.expiry)
        }
        // The clock is asked where it matters only, and not under the lock.
        guard let expiry else { return lease }
        return expiry <= time.date ? nil : lease
    }

    /// Whether the current task works for the handler.
    var isRefreshing: Bool {
        RefreshScope.running.load(ordering: .acquiring) > 0 && !RefreshScope.current.isEmpty
            && RefreshScope.current.contains { $0.keeper == ObjectIdentifier(self) && !$0.isOver }
    }

    /// A credential that is there; nil where a refresh is due, or none is to be had.
    func ready(for need: Need) -> Lease? {
        if case .ready(let lease)? = state.withLock({ decide($0, need) }) { return lease }
        return nil
    }

    /// A credential for a need, after a refresh where that takes one.
    func credential(for need: Need, _ time: any TimeSource) async -> Outcome {
        if let ready = state.withLock({ decide($0, need) }) { return ready }
        let ticket = state.withLock { $0.nextID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .cancelled }
                    if let ready = decide(state, need) { return ready }
                    if state.run == nil { start(&state, time) }
                    state.run?.waiting[ticket] = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            state.withLock { $0.run?.waiting.removeValue(forKey: ticket) }?.resume(returning: .cancelled)
        }
    }

    /// Starts a refresh that no caller waits for, unless there is no need for one.
    func renew(after need: Need, _ time: any TimeSource) {
        state.withLock { state in
            if decide(state, need) == nil, state.run == nil { start(&state, time) }
        }
    }

    /// Whether a refusal can lead to another sending.
    func canRenew(after need: Need) -> Bool {
        if case .refused? = state.withLock({ decide($0, need) }) { return false }
        return true
    }

    /// What is known without waiting; nil where a refresh is due.
    private func decide(_ state: State, _ need: Need) -> Outcome? {
        switch need {
        case .any: if let lease = state.lease { return .ready(lease) }
        case .valid(let date):
            guard let lease = state.lease else { break }
            if handler == nil { return .ready(lease) }
            let isOver = state.isExpired || !state.ignoresExpiry && state.expiry.map { $0 <= date } ?? false
            if !isOver, state.run == nil { return .ready(lease) }
        case .refused(let lease, let isRepeated):
            if state.version != lease.version {
                // The refusal is that of an older credential.
                return state.lease.map { .ready($0) } ?? .failed(AuthenticationError(.signedOut))
            }
            if state.run != nil { return nil }
            if isRepeated { return .refused }
            if let failure = state.failure, state.failures > lease.failures { return .failed(failure) }
        }
        return handler == nil ? state.lease == nil ? .failed(AuthenticationError(.signedOut)) : .refused : nil
    }

    private func start(_ state: inout State, _ time: any TimeSource) {
        guard let handler else { return }
        let (id, old) = (state.nextID(), state.credential)
        state.run = Run(id: id)
        let scope = RefreshScope(ObjectIdentifier(self))
        let work = Task { [weak self] in
            let result: Result<(any Credential)?, any Error>
            do { result = .success(try await scope.run { try await handler(old) }) } catch { result = .failure(error) }
            self?.finish(id, result, time)
        }
        let limit = time.now.advanced(by: min(max(timeout, .zero), .seconds(3_155_760_000)))
        let timer = Task { [weak self] in
            guard (try? await time.sleep(until: limit)) != nil else { return }
            self?.finish(id, .failure(TimedOut()), time)
        }
        state.run?.tasks = [work, timer]
    }

    private func finish(_ id: UInt64, _ result: Result<(any Credential)?, any Error>, _ time: any TimeSource) {
        let date = time.date
        let done = state.withLock { state -> (Run, Outcome, (any Credential)?)? in
            guard let run = state.run, run.id == id else { return nil }
            // What is replaced is released outside of the lock: its end may run the user's code.
            let old = state.credential
            state.run = nil
            switch result {
            case .success(let new):
                state.replace(new, ignoringExpiry: new?.expiry.map { $0 <= date } ?? false)
                guard var lease = state.lease else { return (run, .failed(AuthenticationError(.signedOut)), old) }
                lease.isFresh = true
                return (run, .ready(lease), old)
            case .failure(let error):
                let failure =
                    error is TimedOut
                    ? AuthenticationError(.refreshTimedOut) : AuthenticationError(.refreshFailed, underlying: error)
                state.failures += 1
                state.failure = failure
                return (run, .failed(failure), nil)
            }
        }
        if let done { end(done.0, done.1) }
        withExtendedLifetime(done) {}
    }

    func replace(with new: (any Credential)?) {
        let done = state.withLock { state -> (Run?, Outcome, (any Credential)?) in
            let (run, old) = (state.run, state.credential)
            state.run = nil
            state.replace(new)
            return (run, state.lease.map { .ready($0) } ?? .failed(AuthenticationError(.signedOut)), old)
        }
        if let run = done.0 { end(run, done.1) }
        withExtendedLifetime(done) {}
    }

    func expire() { state.withLock { $0.isExpired = true } }

    /// The session is gone: what waits ends.
    func end() {
        let run = state.withLock { state in
            defer { state.run = nil }
            return state.run
        }
        if let run { end(run, .failed(AuthenticationError(.signedOut))) }
    }

    private func end(_ run: Run, _ outcome: Outcome) {
        for task in run.tasks { task.cancel() }
        for continuation in run.waiting.values { continuation.resume(returning: outcome) }
    }
}

/// The handler did not return in time.
private struct TimedOut: Error {}

/// One run of a handler, so that a request of a handler never waits for that handler.
private final class RefreshScope: Sendable {
    @TaskLocal static var current: [RefreshScope] = []
    /// How many handlers run in this process: mostly none, and a look here costs less than one at the task.
    static let running = Atomic(0)

    let keeper: ObjectIdentifier
    private let over = Atomic(false)

    init(_ keeper: ObjectIdentifier) { self.keeper = keeper }

    /// A task that the handler has started inherits the mark and may outlive it.
    var isOver: Bool { over.load(ordering: .acquiring) }

    func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        Self.running.add(1, ordering: .acquiringAndReleasing)
        defer {
            over.store(true, ordering: .releasing)
            Self.running.subtract(1, ordering: .acquiringAndReleasing)
        }
        return try await Self.$current.withValue(Self.current + [self]) { try await body() }
    }
}
