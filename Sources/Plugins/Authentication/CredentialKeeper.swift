import Errand
import ErrandEssentials
import Synchronization

/// Keeps the current credential and runs at most one refresh.
///
/// Each change of the credential increments the version. If the version has changed when a refresh ends, its result is
/// dropped. Each change of the user increments the generation. A call belongs to the generation in which it began.
///
/// The class isn't generic, because generic code from another module looks up metadata at each step of each request.
final class CredentialKeeper: Sendable {
    typealias Handler = @Sendable (_ old: (any Credential)?) async throws -> (any Credential)?

    struct Rules: Sendable {
        /// The origins that receive the credential. Nil means the agent's trusted origins.
        var origins: TrustedOrigins?
        var isRejection: (@Sendable (HTTPResponse) async throws -> Bool)?
        var is401Rejection = true
    }

    let rules: Rules
    private let handler: Handler?
    private let timeout: Duration
    let state: Mutex<State>
    let membership = CallKey<Membership>()

    init(_ credential: (any Credential)?, _ rules: Rules, timeout: Duration, handler: Handler?) {
        (self.rules, self.timeout, self.handler) = (rules, timeout, handler)
        state = Mutex(State(credential.map(Known.init)))
    }

    var credential: (any Credential)? { state.withLock { $0.known?.credential } }

    /// Nil if a user is signed in.
    var anonymous: Membership? {
        state.withLock {
            $0.known == nil ? Membership(generation: $0.generation, isAnonymous: true) : nil
        }
    }

    func refusal(of member: Membership) -> AuthenticationError? {
        if case .failed(let error)? = state.withLock({ $0.refusal(of: member) }) { return error }
        return nil
    }

    var isRenewable: Bool { handler != nil }

    func ready(_ time: any TimeSource, _ member: Membership?) -> Lease? {
        let (lease, expiry) = state.withLock { state -> (Lease?, Date?) in
            if let member, member.generation != state.generation { return (nil, nil) }
            if handler == nil { return (state.lease, nil) }
            if state.isExpired || state.run != nil { return (nil, nil) }
            return (state.lease, state.ignoresExpiry ? nil : state.known?.expiry)
        }
        // Read the clock only if necessary, and outside the lock.
        guard let expiry else { return lease }
        return expiry <= time.date ? nil : lease
    }

    /// Returns true if the request's task belongs to the refresh handler, or the request carries a secret that renews
    /// the credential.
    func isOfHandler(_ request: @autoclosure () -> HTTPRequest) -> Bool {
        if RefreshScope.running.load(ordering: .acquiring) == 0 { return false }
        if RefreshScope.current.contains(where: { $0.keeper == ObjectIdentifier(self) && !$0.isOver }) { return true }
        let old = state.withLock { $0.run == nil ? nil : $0.known?.credential }
        return old?.isRenewed(by: request()) ?? false
    }

    func ready(for need: Need, _ member: Membership?) -> Lease? {
        if case .ready(let lease)? = state.withLock({ decide($0, for: need, member: member) }) { return lease }
        return nil
    }

    func credential(for need: Need, _ time: any TimeSource, _ member: Membership?) async -> Outcome {
        if let ready = state.withLock({ decide($0, for: need, member: member) }) { return ready }
        let (ticket, start) = (state.withLock { $0.nextID() }, time.now)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .cancelled }
                    if let ready = decide(state, for: need, member: member) { return ready }
                    if state.run == nil { self.start(&state, at: start, time) }
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

    func renew(after need: Need, _ time: any TimeSource) {
        let now = time.now
        state.withLock { state in
            if decide(state, for: need, member: nil) == nil, state.run == nil { start(&state, at: now, time) }
        }
    }

    /// Returns whether a refused request may get another credential. If a refreshed credential is refused before any
    /// response has accepted it, requests that waited for this refresh or began with another credential don't start a
    /// second one.
    func canRenew(after need: Need, _ first: Lease) -> Bool {
        state.withLock { state in
            if case .refused(let lease, _) = need, lease.isOnTrial, state.run == nil,
                lease.version == state.version, lease.version != first.version || lease.isFresh
            {
                return false
            }
            if case .refused? = decide(state, for: need, member: nil) { return false }
            return true
        }
    }

    func accept(_ lease: Lease) {
        if !lease.isOnTrial { return }
        state.withLock { state in
            if state.version == lease.version { state.accept() }
        }
    }

    private func decide(_ state: State, for need: Need, member: Membership?) -> Outcome? {
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
                // The refusal concerns an older credential.
                return state.lease.map { .ready($0) } ?? .failed(AuthenticationError(.signedOut))
            }
            if state.run != nil { return nil }
            if let failure = state.failure, state.failures > lease.failures { return .failed(failure) }
            if isRepeated { return .refused }
        }
        return handler == nil
            ? state.lease == nil ? .failed(AuthenticationError(.signedOut)) : .refused : nil
    }

    private func start(_ state: inout State, at now: ContinuousClock.Instant, _ time: any TimeSource) {
        guard let handler else { return }
        let (id, old) = (state.nextID(), state.known?.credential)
        state.run = Run(id: id)
        let scope = RefreshScope(ObjectIdentifier(self))
        let work = Task { [weak self] in
            let result: Result<(any Credential)?, any Error>
            do { result = .success(try await scope.run { try await handler(old) }) } catch {
                result = .failure(error)
            }
            self?.finish(id, with: result, time: time)
        }
        let limit = now.advanced(by: timeout.bounded)
        let timer = Task { [weak self] in
            await time.wait(until: limit)
            if Task.isCancelled { return }
            self?.finish(id, with: .failure(TimedOut()), time: time)
        }
        state.run?.tasks = [work, timer]
    }

    private func finish(
        _ id: UInt64, with result: Result<(any Credential)?, any Error>, time: any TimeSource
    ) {
        let date = time.date
        let new = try? result.get().map(Known.init)
        var failure: AuthenticationError?
        if case .failure(let error) = result { failure = Self.failure(error) }
        let done = state.withLock { [failure] state -> (Run, Ending, State)? in
            guard let run = state.run, run.id == id else { return nil }
            // Keep the old state until after the unlock, because releasing it can run user code.
            let past = state
            state.run = nil
            let old = past.known
            switch result {
            case .success:
                let isSameUser = old.flatMap { old in new.map { $0.isOwned(asIn: old) ?? true } } ?? false
                state.replace(
                    new, isSameUser: isSameUser, ignoringExpiry: new?.expiry.map { $0 <= date } ?? false,
                    isOnTrial: old != nil)
                guard let lease = state.freshLease else {
                    return (run, Ending(state, .failed(AuthenticationError(.signedOut))), past)
                }
                return (run, Ending(state, .ready(lease)), past)
            case .failure where failure?.code == .signedOut:
                state.replace(nil, isSameUser: false)
            case .failure:
                state.fail(failure)
            }
            return (run, Ending(state, .failed(failure ?? AuthenticationError(.refreshFailed))), past)
        }
        withExtendedLifetime(done) { if let done { end(done.0, done.1) } }
    }

    private static func failure(_ error: any Error) -> AuthenticationError {
        if error is TimedOut { return AuthenticationError(.refreshTimedOut) }
        if let ended = error as? SessionEnded { return AuthenticationError(.signedOut, underlying: ended.underlying) }
        let isOver = SessionEnded.isMeant(by: error)
        return AuthenticationError(isOver ? .signedOut : .refreshFailed, underlying: error)
    }

    func end(_ run: Run, _ ending: Ending?) {
        for task in run.tasks { task.cancel() }
        for waiter in run.waiting.values {
            let outcome = ending?.outcome(for: waiter.member) ?? .failed(AuthenticationError(.signedOut))
            waiter.continuation.resume(returning: outcome)
        }
    }
}

private struct TimedOut: Error {}

extension CredentialKeeper {
    /// A credential, and the keeper's state when a request was sent. It's a class, so requests in the same state share
    /// an object.
    final class Lease: Sendable {
        private let known: Known
        let membership: Membership
        let isFresh: Bool
        let isOnTrial: Bool
        let version: UInt64
        let failures: UInt64

        init(_ known: Known, in state: borrowing State, isFresh: Bool = false) {
            (self.known, self.isFresh) = (known, isFresh)
            membership = Membership(generation: state.generation)
            (isOnTrial, version, failures) = (state.isOnTrial, state.version, state.failures)
        }

        var credential: any Credential { known.credential }
        /// Nil if the credential's fields aren't known in advance.
        var field: HTTPHeaders.Field? { known.field }
        var owner: String? { known.owner }

        func isSame(as other: Lease) -> Bool { version == other.version }
    }

    /// The user that a call belongs to, as the generation in which the call began.
    struct Membership: Sendable {
        let generation: UInt64
        var isAnonymous = false
    }

    enum Need: Sendable {
        /// Any credential, even an expired one: enough to find cached responses.
        case any
        case valid(at: Date)
        /// `isRepeated`: an earlier refusal of the same request has already led to a refresh.
        case refused(Lease, isRepeated: Bool)
    }

    enum Outcome: Sendable {
        case ready(Lease)
        case failed(AuthenticationError)
        case refused
        case cancelled
    }
}

extension CredentialKeeper {
    func replace(with credential: (any Credential)?) {
        let new = credential.map(Known.init)
        let done = state.withLock { state -> (Run?, Ending, State) in
            let (past, run, old) = (state, state.run, state.known)
            state.run = nil
            let isSameUser = old.flatMap { old in new?.isOwned(asIn: old) } ?? false
            state.replace(new, isSameUser: isSameUser)
            return (
                run,
                Ending(state, state.lease.map { .ready($0) } ?? .failed(AuthenticationError(.signedOut))),
                past
            )
        }
        withExtendedLifetime(done) { if let run = done.0 { end(run, done.1) } }
    }

    func renew(with credential: any Credential) -> Bool {
        let new = Known(credential)
        let done = state.withLock { state -> (Run?, Ending, State)? in
            guard state.known != nil else { return nil }
            let (past, run) = (state, state.run)
            state.run = nil
            state.replace(new, isSameUser: true)
            return (
                run,
                Ending(state, state.lease.map { .ready($0) } ?? .failed(AuthenticationError(.signedOut))),
                past
            )
        }
        withExtendedLifetime(done) { if let done, let run = done.0 { end(run, done.1) } }
        return done != nil
    }

    func expire() { state.withLock { $0.isExpired = true } }

    func end() {
        let run = state.withLock { state in
            defer { state.run = nil }
            return state.run
        }
        if let run { end(run, nil) }
    }
}

/// Marks the tasks of a refresh handler, so the handler's own requests don't wait for it.
final class RefreshScope: Sendable {
    @TaskLocal static var current: [RefreshScope] = []
    /// The number of running handlers in the process. Cheaper to read than a task-local value.
    static let running = Atomic(0)

    let keeper: ObjectIdentifier
    private let over = Atomic(false)

    init(_ keeper: ObjectIdentifier) { self.keeper = keeper }

    /// Tasks that the handler started inherit the scope and may outlive it.
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
