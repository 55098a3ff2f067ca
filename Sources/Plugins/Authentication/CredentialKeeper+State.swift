import Errand
import ErrandEssentials

extension CredentialKeeper {
    struct Run {
        let id: UInt64
        var waiting: [UInt64: Waiter] = [:]
        var tasks: [Task<Void, Never>] = []
    }

    struct Waiter {
        let continuation: CheckedContinuation<Outcome, Never>
        let member: Membership?
    }

    /// A credential and its properties: read once, and not under the lock.
    final class Known: Sendable {
        let credential: any Credential
        let field: HTTPHeaders.Field?
        let expiry: Date?
        let owner: String?

        init(_ credential: any Credential) {
            self.credential = credential
            field = (credential as? any FixedCredential)?.field.map {
                HTTPHeaders.Field($0.name, $0.value, sensitive: true).checked
            }
            (expiry, owner) = (credential.expiry, credential.owner)
        }

        /// Whether both name an owner, and it is the same user, or another one.
        func isOwned(asIn other: Known) -> Bool? {
            guard let owner, let others = other.owner else { return nil }
            return owner == others
        }
    }

    struct State {
        var known: Known?
        var version: UInt64 = 0
        var generation: UInt64 = 0
        /// The generation that the last sign-out began.
        var lastSignOut: UInt64 = 0
        /// Declared expired by the app.
        var isExpired = false
        /// Expired by the clock of this machine when it arrived: that clock, or the server's, is wrong, so the server
        /// decides.
        var ignoresExpiry = false
        /// Whether a refresh has replaced another one by it, and no response has accepted it.
        var isOnTrial = false
        var run: Run?
        var failures: UInt64 = 0
        /// The error of the last failed refresh of this version.
        var failure: AuthenticationError?
        var lastID: UInt64 = 0

        var lease: Lease? { known.map { Lease($0, in: self) } }

        /// The outcome for a call that belongs to another user than the current one; nil for any other.
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
            (isExpired, ignoresExpiry, isOnTrial, failure) = (false, ignoringExpiry, false, nil)
        }
    }

    /// The result of a run for the requests that wait for it.
    struct Ending {
        private let outcome: Outcome
        private let state: State

        init(_ state: State, _ outcome: Outcome) { (self.state, self.outcome) = (state, outcome) }

        /// Requests of another user than the current one fail; if the run has ended the session, with its reason.
        func outcome(for member: Membership?) -> Outcome {
            if case .failed(let error) = outcome, error.code == .signedOut { return outcome }
            return state.refusal(of: member) ?? outcome
        }
    }
}
