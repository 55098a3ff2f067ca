import Errand
import Synchronization

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
