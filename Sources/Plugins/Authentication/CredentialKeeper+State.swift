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

    /// Properties are read once, outside the lock.
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

        func isOwned(asIn other: Known) -> Bool? {
            guard let owner, let others = other.owner else { return nil }
            return owner == others
        }
    }

    struct State {
        private(set) var known: Known?
        private(set) var version: UInt64 = 0
        private(set) var generation: UInt64 = 0
        private(set) var lastSignOut: UInt64 = 0
        var isExpired = false
        /// Whether the credential had already expired when it arrived. Either the device's or the server's clock is
        /// then wrong, so the expiry is ignored and only the server decides.
        private(set) var ignoresExpiry = false
        /// The credential comes from a refresh, and no response has accepted it yet.
        private(set) var isOnTrial = false
        var run: Run?
        private(set) var failures: UInt64 = 0
        private(set) var failure: AuthenticationError?
        private var lastID: UInt64 = 0
        private(set) var lease: Lease?

        init(_ known: Known?) {
            self.known = known
            renewLease()
        }

        private mutating func renewLease() { lease = known.map { Lease($0, in: self) } }

        var freshLease: Lease? { known.map { Lease($0, in: self, isFresh: true) } }

        func refusal(of member: Membership?) -> Outcome? {
            guard let member, member.generation != generation else { return nil }
            let hasSignedOut = known == nil || member.generation < lastSignOut
            return .failed(AuthenticationError(hasSignedOut ? .signedOut : .userChanged))
        }

        mutating func nextID() -> UInt64 {
            lastID += 1
            return lastID
        }

        mutating func replace(
            _ new: Known?, isSameUser: Bool, ignoringExpiry: Bool = false, isOnTrial: Bool = false
        ) {
            known = new
            version += 1
            if !isSameUser { generation += 1 }
            if new == nil { lastSignOut = generation }
            (isExpired, ignoresExpiry, self.isOnTrial, failure) = (false, ignoringExpiry, isOnTrial, nil)
            renewLease()
        }

        mutating func accept() {
            isOnTrial = false
            renewLease()
        }

        mutating func fail(_ error: AuthenticationError?) {
            failures += 1
            failure = error
            renewLease()
        }
    }

    struct Ending {
        private let outcome: Outcome
        private let state: State

        init(_ state: State, _ outcome: Outcome) { (self.state, self.outcome) = (state, outcome) }

        /// Returns the outcome for a waiting request. Requests that belong to another user fail. If the session has
        /// ended, all requests fail with the session's error.
        func outcome(for member: Membership?) -> Outcome {
            if case .failed(let error) = outcome, error.code == .signedOut { return outcome }
            return state.refusal(of: member) ?? outcome
        }
    }
}
