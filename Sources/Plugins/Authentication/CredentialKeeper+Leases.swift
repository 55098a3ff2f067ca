import Errand
import ErrandEssentials

extension CredentialKeeper {
    /// A credential for one attempt at one request.
    struct Lease: Sendable {
        let credential: any Credential
        /// All that the credential adds, if it is known.
        let field: HTTPHeaders.Field?
        /// The user, if the credential names one.
        let owner: String?
        let membership: Membership
        /// Whether a refresh has made it for the requests that waited.
        var isFresh = false
        /// Whether a refresh has replaced another one by it, and no response had accepted it so far.
        let isOnTrial: Bool
        let version: UInt64
        /// The number of refreshes that had failed when the request was sent.
        let failures: UInt64

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
