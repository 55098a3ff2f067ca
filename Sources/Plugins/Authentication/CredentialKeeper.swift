import Errand
import ErrandEssentials
import Synchronization

/// The current credential, and the one refresh that may run.
///
/// A credential has a version, which every change counts up. A refresh belongs to the version that it replaces; what comes
/// of it is dropped if that is no longer the current one. It also has a generation, which every change of the user counts
/// up, and a refresh does not: a call belongs to the one in which it began.
///
/// Not generic: what is generic beyond its module looks up metadata at each step of each request.
final class CredentialKeeper: Sendable {
    typealias Handler = @Sendable (_ old: (any Credential)?) async throws -> (any Credential)?

    /// A credential for one sending of one request.
    struct Lease: Sendable {
        let credential: any Credential
        /// All that the credential adds, where that is known.
        let field: HTTPHeaders.Field?
        /// The user, where the credential says so.
        let owner: String?
        let membership: Membership
        /// Whether a refresh has made it for those that waited.
        var isFresh = false
        fileprivate let version: UInt64
        /// How many refreshes had failed when the request was sent.
        fileprivate let failures: UInt64

        /// Whether it is the same credential.
        func isSame(as other: Lease) -> Bool { version == other.version }
    }

    /// The user to whom a call belongs.
    struct Membership: Sendable {
        let generation: UInt64
        /// Whether the call began without a user, and does without.
        var isAnonymous = false
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
        var waiting: [UInt64: Waiter] = [:]
        var tasks: [Task<Void, Never>] = []
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Outcome, Never>
        let member: Membership?
    }

    /// A credential and what it says of itself: asked once, and not under the lock.
    private struct Known {
        let credential: any Credential
        let field: HTTPHeaders.Field?
        let expiry: Date?
        let owner: String?

        init(_ credential: any Credential) {
            self.credential = credential
            field = (credential as? any FixedCredential)?.field
            (expiry, owner) = (credential.expiry, credential.owner)
        }

        /// Whether both say whose they are, and that is the same user, or another one.
        func isOwned(asIn other: Known) -> Bool? {
            guard let owner, let others = other.owner else { return nil }
            return owner == others
        }
    }

    private struct State {
        var known: Known?
        var version: UInt64 = 0
        var generation: UInt64 = 0
        /// The generation that the last sign-out has begun.
        var lastSignOut: UInt64 = 0
        /// Said to be expired by the app.
        var isExpired = false
        /// Expired by the clock of this machine when it came: so that clock, or the server's, is wrong, and the server decides.
        var ignoresExpiry = false
        var run: Run?
        var failures: UInt64 = 0
        /// What the last failed refresh of this version threw.
        var failure: AuthenticationError?
        var lastID: UInt64 = 0

        var lease: Lease? {
            known.map {
                Lease(
                    credential: $0.credential, field: $0.field, owner: $0.owner,
                    membership: Membership(generation: generation), version: version, failures: failures)
            }
        }

        /// What a call meets that belongs to another user than the present one; nil for others.
        func refusal(of member: Membership?) -> Outcome? {
            guard let member, member.generation != generation else { return nil }
            let hasSignedOut = known == nil || member.generation < lastSignOut
            return .failed(AuthenticationError(hasSignedOut ? .signedOut : .userChanged))
        }

        mutating func nextID() -> UInt64 {
            lastID += 1
            return lastID
        }

        mutating func replace(_ new: Known?, isSameUser: Bool, ignoringExpiry: Bool = false) {
            known = new
            version += 1
            if !isSameUser { generation += 1 }
            if new == nil { lastSignOut = generation }
            (isExpired, ignoresExpiry, failure) = (false, ignoringExpiry, nil)
        }
    }

    /// What the end of a run brings to those that wait for it.
    private struct Ending {
        private let outcome: Outcome
        private let state: State

        init(_ state: State, _ outcome: Outcome) { (self.state, self.outcome) = (state, outcome) }

        /// Those of another user than the present one fail.
        func outcome(for member: Membership?) -> Outcome { state.refusal(of: member) ?? outcome }
    }

    private let handler: Handler?
    private let timeout: Duration
    private let state: Mutex<State>
    /// Where a call keeps its user.
    let membership = CallKey<Membership>()

    init(_ credential: (any Credential)?, timeout: Duration, handler: Handler?) {
        (self.timeout, self.handler) = (timeout, handler)
        state = Mutex(State(known: credential.map(Known.init)))
    }

    var credential: (any Credential)? { state.withLock { $0.known?.credential } }

    /// The membership of a call that begins without a user; nil where one is signed in.
    var anonymous: Membership? {
        state.withLock {
            $0.known == nil ? Membership(generation: $0.generation, isAnonymous: true) : nil
        }
    }

    /// What a call meets that belongs to another user than the present one; nil for others.
    func refusal(of member: Membership) -> AuthenticationError? {
        if case .failed(let error)? = state.withLock({ $0.refusal(of: member) }) { return error }
        return nil
    }

    /// Whether there is a handler.
    var isRenewable: Bool { handler != nil }

    /// A credential of the call's user that is there and has not expired, without a wait; nil where that takes more than a
    /// look.
    func ready(_ time: any TimeSource, _ member: Membership?) -> Lease? {
        let (lease, expiry) = state.withLock { state -> (Lease?, Date?) in
            if let member, member.generation != state.generation { return (nil, nil) }
            if handler == nil { return (state.lease, nil) }
            if state.isExpired || state.run != nil { return (nil, nil) }
            return (state.lease, state.ignoresExpiry ? nil : state.known?.expiry)
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
    func ready(for need: Need, _ member: Membership?) -> Lease? {
        if case .ready(let lease)? = state.withLock({ decide($0, need, member) }) { return lease }
        return nil
    }

    /// A credential for a need, after a refresh where that takes one.
    func credential(for need: Need, _ time: any TimeSource, _ member: Membership?) async -> Outcome {
        if let ready = state.withLock({ decide($0, need, member) }) { return ready }
        let ticket = state.withLock { $0.nextID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .cancelled }
                    if let ready = decide(state, need, member) { return ready }
                    if state.run == nil { start(&state, time) }
                    state.run?.waiting[ticket] = Waiter(continuation: continuation, member: member)
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            state.withLock { $0.run?.waiting.removeValue(forKey: ticket) }?.continuation.resume(
                returning: .cancelled)
        }
    }

    /// Starts a refresh that no caller waits for, unless there is no need for one.
    func renew(after need: Need, _ time: any TimeSource) {
        state.withLock { state in
            if decide(state, need, nil) == nil, state.run == nil { start(&state, time) }
        }
    }

    /// Whether a refusal can lead to another sending.
    func canRenew(after need: Need) -> Bool {
        if case .refused? = state.withLock({ decide($0, need, nil) }) { return false }
        return true
    }

    /// What is known without waiting; nil where a refresh is due.
    private func decide(_ state: State, _ need: Need, _ member: Membership?) -> Outcome? {
        if let refusal = state.refusal(of: member) { return refusal }
        switch need {
        case .any: if let lease = state.lease { return .ready(lease) }
        case .valid(let date):
            guard let lease = state.lease else { break }
            if handler == nil { return .ready(lease) }
            let isOver =
                state.isExpired || !state.ignoresExpiry && state.known?.expiry.map { $0 <= date } ?? false
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
        return handler == nil
            ? state.lease == nil ? .failed(AuthenticationError(.signedOut)) : .refused : nil
    }

    private func start(_ state: inout State, _ time: any TimeSource) {
        guard let handler else { return }
        let (id, old) = (state.nextID(), state.known?.credential)
        state.run = Run(id: id)
        let scope = RefreshScope(ObjectIdentifier(self))
        let work = Task { [weak self] in
            let result: Result<(any Credential)?, any Error>
            do { result = .success(try await scope.run { try await handler(old) }) } catch {
                result = .failure(error)
            }
            self?.finish(id, result, time)
        }
        let limit = time.now.advanced(by: min(max(timeout, .zero), .seconds(3_155_760_000 as Int64)))
        let timer = Task { [weak self] in
            guard (try? await time.sleep(until: limit)) != nil else { return }
            self?.finish(id, .failure(TimedOut()), time)
        }
        state.run?.tasks = [work, timer]
    }

    private func finish(
        _ id: UInt64, _ result: Result<(any Credential)?, any Error>, _ time: any TimeSource
    ) {
        let date = time.date
        let new = try? result.get().map(Known.init)
        let done = state.withLock { state -> (Run, Ending, Known?)? in
            guard let run = state.run, run.id == id else { return nil }
            // What is replaced is released outside of the lock: its end may run the user's code.
            let old = state.known
            state.run = nil
            switch result {
            case .success:
                let isSameUser = old.flatMap { old in new.map { $0.isOwned(asIn: old) ?? true } } ?? false
                state.replace(
                    new, isSameUser: isSameUser, ignoringExpiry: new?.expiry.map { $0 <= date } ?? false)
                guard var lease = state.lease else {
                    return (run, Ending(state, .failed(AuthenticationError(.signedOut))), old)
                }
                lease.isFresh = true
                return (run, Ending(state, .ready(lease)), old)
            case .failure(let error):
                let failure =
                    error is TimedOut
                    ? AuthenticationError(.refreshTimedOut)
                    : AuthenticationError(.refreshFailed, underlying: error)
                state.failures += 1
                state.failure = failure
                return (run, Ending(state, .failed(failure)), nil)
            }
        }
        withExtendedLifetime(done) { if let done { end(done.0, done.1) } }
    }

    /// A user signs in or out.
    func replace(with credential: (any Credential)?) {
        let new = credential.map(Known.init)
        let done = state.withLock { state -> (Run?, Ending, Known?) in
            let (run, old) = (state.run, state.known)
            state.run = nil
            let isSameUser = old.flatMap { old in new?.isOwned(asIn: old) } ?? false
            state.replace(new, isSameUser: isSameUser)
            return (
                run,
                Ending(state, state.lease.map { .ready($0) } ?? .failed(AuthenticationError(.signedOut))),
                old
            )
        }
        withExtendedLifetime(done) { if let run = done.0 { end(run, done.1) } }
    }

    /// Replaces the credential of the user who is signed in; false where there is none.
    func renew(with credential: any Credential) -> Bool {
        let new = Known(credential)
        let done = state.withLock { state -> (Run?, Ending, Known?)? in
            guard let old = state.known else { return nil }
            let run = state.run
            state.run = nil
            state.replace(new, isSameUser: true)
            return (
                run,
                Ending(state, state.lease.map { .ready($0) } ?? .failed(AuthenticationError(.signedOut))),
                old
            )
        }
        withExtendedLifetime(done) { if let done, let run = done.0 { end(run, done.1) } }
        return done != nil
    }

    func expire() { state.withLock { $0.isExpired = true } }

    /// The session is gone: what waits ends.
    func end() {
        let run = state.withLock { state in
            defer { state.run = nil }
            return state.run
        }
        if let run { end(run, nil) }
    }

    /// Resumes those that wait; without an ending because there is no session any more.
    private func end(_ run: Run, _ ending: Ending?) {
        for task in run.tasks { task.cancel() }
        for waiter in run.waiting.values {
            let outcome = ending?.outcome(for: waiter.member) ?? .failed(AuthenticationError(.signedOut))
            waiter.continuation.resume(returning: outcome)
        }
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
