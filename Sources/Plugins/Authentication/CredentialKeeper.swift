import Errand
import ErrandEssentials
import Synchronization

/// The current credential, and the one refresh that may run.
///
/// A credential has a version, which every change increments. A refresh belongs to the version that it replaces; its
/// result is dropped if that is no longer the current one. It also has a generation, which every change of the user
/// increments, and a refresh does not: a call belongs to the one in which it began.
///
/// Not generic: code that is generic beyond its module looks up metadata at each step of each request.
final class CredentialKeeper: Sendable {
    typealias Handler = @Sendable (_ old: (any Credential)?) async throws -> (any Credential)?

    /// Where the credential is sent, and which responses refuse it.
    struct Rules: Sendable {
        /// The origins that get it; nil for those that the agent trusts with its secrets.
        var origins: TrustedOrigins?
        var isRejection: (@Sendable (HTTPResponse) async throws -> Bool)?
        /// Whether responses with status 401 refuse it, too.
        var is401Rejection = true
    }

    let rules: Rules
    private let handler: Handler?
    private let timeout: Duration
    let state: Mutex<State>
    /// The key of the user of a call.
    let membership = CallKey<Membership>()

    init(_ credential: (any Credential)?, _ rules: Rules, timeout: Duration, handler: Handler?) {
        (self.rules, self.timeout, self.handler) = (rules, timeout, handler)
        state = Mutex(State(credential.map(Known.init)))
    }

    var credential: (any Credential)? { state.withLock { $0.known?.credential } }

    /// The membership of a call that begins without a user; nil if one is signed in.
    var anonymous: Membership? {
        state.withLock {
            $0.known == nil ? Membership(generation: $0.generation, isAnonymous: true) : nil
        }
    }

    /// The error for a call that belongs to another user than the current one; nil for any other.
    func refusal(of member: Membership) -> AuthenticationError? {
        if case .failed(let error)? = state.withLock({ $0.refusal(of: member) }) { return error }
        return nil
    }

    /// Whether there is a handler.
    var isRenewable: Bool { handler != nil }

    /// A credential of the call's user that exists and has not expired, without a wait; nil if that takes more than a
    /// check.
    func ready(_ time: any TimeSource, _ member: Membership?) -> Lease? {
        let (lease, expiry) = state.withLock { state -> (Lease?, Date?) in
            if let member, member.generation != state.generation { return (nil, nil) }
            if handler == nil { return (state.lease, nil) }
            if state.isExpired || state.run != nil { return (nil, nil) }
            return (state.lease, state.ignoresExpiry ? nil : state.known?.expiry)
        }
        // The clock is read only where it matters, and not under the lock.
        guard let expiry else { return lease }
        return expiry <= time.date ? nil : lease
    }

    /// Whether a request is one of the handler's: the current task works for it, or the request carries a secret that
    /// renews the credential, from whatever task or queue it is sent.
    func isOfHandler(_ request: @autoclosure () -> HTTPRequest) -> Bool {
        if RefreshScope.running.load(ordering: .acquiring) == 0 { return false }
        if RefreshScope.current.contains(where: { $0.keeper == ObjectIdentifier(self) && !$0.isOver }) { return true }
        let old = state.withLock { $0.run == nil ? nil : $0.known?.credential }
        return old?.isRenewed(by: request()) ?? false
    }

    /// An existing credential; nil if a refresh is due, or none is available.
    func ready(for need: Need, _ member: Membership?) -> Lease? {
        if case .ready(let lease)? = state.withLock({ decide($0, need, member) }) { return lease }
        return nil
    }

    /// A credential for a need, after a refresh if that is necessary.
    func credential(for need: Need, _ time: any TimeSource, _ member: Membership?) async -> Outcome {
        if let ready = state.withLock({ decide($0, need, member) }) { return ready }
        let (ticket, start) = (state.withLock { $0.nextID() }, time.now)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .cancelled }
                    if let ready = decide(state, need, member) { return ready }
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

    /// Starts a refresh that no caller awaits, unless there is no need for one.
    func renew(after need: Need, _ time: any TimeSource) {
        let now = time.now
        state.withLock { state in
            if decide(state, need, nil) == nil, state.run == nil { start(&state, at: now, time) }
        }
    }

    /// Whether a refusal can lead to another attempt. If a refresh has made a credential that no response has accepted,
    /// a request that began with another one, or waited for that refresh, causes no second one, whichever caused the
    /// first.
    func canRenew(after need: Need, _ first: Lease) -> Bool {
        state.withLock { state in
            if case .refused(let lease, _) = need, lease.isOnTrial, state.run == nil,
                lease.version == state.version, lease.version != first.version || lease.isFresh
            {
                return false
            }
            if case .refused? = decide(state, need, nil) { return false }
            return true
        }
    }

    /// A response has accepted a credential.
    func accept(_ lease: Lease) {
        if !lease.isOnTrial { return }
        state.withLock { state in
            if state.version == lease.version { state.accept() }
        }
    }

    /// The outcome that is known without waiting; nil if a refresh is due.
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
                // The refusal concerns an older credential.
                return state.lease.map { .ready($0) } ?? .failed(AuthenticationError(.signedOut))
            }
            if state.run != nil { return nil }
            if isRepeated { return .refused }
            if let failure = state.failure, state.failures > lease.failures { return .failed(failure) }
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
            self?.finish(id, result, time)
        }
        let limit = now.advanced(by: timeout.bounded)
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
        var failure: AuthenticationError?
        if case .failure(let error) = result { failure = Self.failure(error) }
        let done = state.withLock { [failure] state -> (Run, Ending, State)? in
            guard let run = state.run, run.id == id else { return nil }
            // The old state is released outside of the lock: its end may run the user's code.
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

    /// Resumes the requests that wait; without an ending because there is no session any more.
    func end(_ run: Run, _ ending: Ending?) {
        for task in run.tasks { task.cancel() }
        for waiter in run.waiting.values {
            let outcome = ending?.outcome(for: waiter.member) ?? .failed(AuthenticationError(.signedOut))
            waiter.continuation.resume(returning: outcome)
        }
    }
}

/// The handler did not return in time.
private struct TimedOut: Error {}

extension CredentialKeeper {
    /// A credential, as it was when a request was sent with it. A class: frames keep one reference, and the requests that
    /// are sent in the same state share it.
    final class Lease: Sendable {
        private let known: Known
        let membership: Membership
        /// Whether a refresh has made it for the requests that waited.
        let isFresh: Bool
        /// Whether a refresh has replaced another one by it, and no response had accepted it so far.
        let isOnTrial: Bool
        let version: UInt64
        /// The number of refreshes that had failed when the request was sent.
        let failures: UInt64

        init(_ known: Known, in state: borrowing State, isFresh: Bool = false) {
            (self.known, self.isFresh) = (known, isFresh)
            membership = Membership(generation: state.generation)
            (isOnTrial, version, failures) = (state.isOnTrial, state.version, state.failures)
        }

        var credential: any Credential { known.credential }
        /// All that the credential adds, if it is known.
        var field: HTTPHeaders.Field? { known.field }
        /// The user, if the credential names one.
        var owner: String? { known.owner }

        /// Whether it is the same credential.
        func isSame(as other: Lease) -> Bool { version == other.version }
    }

    /// The user to whom a call belongs.
    struct Membership: Sendable {
        let generation: UInt64
        /// Whether the call began without a user, and continues without.
        var isAnonymous = false
    }

    /// The reason why a request needs a credential.
    enum Need: Sendable {
        /// For its key in a cache: any credential is enough, expired or not.
        case any
        /// To be sent at this date.
        case valid(at: Date)
        /// Its lease was refused; with whether a refresh has followed another refusal of the same request.
        case refused(Lease, isRepeated: Bool)
    }

    enum Outcome: Sendable {
        case ready(Lease)
        case failed(AuthenticationError)
        /// The refusal is final.
        case refused
        case cancelled
    }
}

extension CredentialKeeper {
    /// A user signs in or out.
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

    /// Replaces the credential of the current user; false if there is none.
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

    /// The session has gone: all waits end.
    func end() {
        let run = state.withLock { state in
            defer { state.run = nil }
            return state.run
        }
        if let run { end(run, nil) }
    }
}
