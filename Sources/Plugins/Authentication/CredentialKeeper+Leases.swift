import Errand
import ErrandEssentials

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
