import Errand
import Synchronization

/// Whose a 401 is, where a request carries the credentials of several sessions, such as a user's and a device's: one for each
/// pass of a request through all of them.
///
/// A 401 concerns `Authorization` (RFC 9110, section 11.6.2). A session that adds something else takes it for its own where
/// the one that adds `Authorization` can do no more.
final class Refusals: Sendable {
    private enum Key: TagKey {
        static var defaultValue: Refusals? { nil }
    }

    /// The phase of the session that adds `Authorization`.
    private enum Phase {
        /// There is none.
        case absent
        /// It would recover from a refusal of its last request.
        case able
        /// It has done everything that it can.
        case spent
    }

    private let phase = Mutex(Phase.absent)

    /// The refusals of the sessions further out, or new ones if other sessions follow; nil for one session alone.
    static func ofPass(_ exchange: inout Exchange, _ next: Next) -> Refusals? {
        guard areShared(exchange.tags, next) else { return nil }
        if let begun = exchange.tags[Key.self] { return begun }
        let new = Refusals()
        exchange.tags[Key.self] = new
        return new
    }

    /// Whether other sessions stand further out, or follow.
    static func areShared(_ tags: Tags, _ next: Next) -> Bool {
        next.following.contains(.authenticates) || tags[Key.self] != nil
    }

    var isSpent: Bool { phase.withLock { $0 == .spent } }

    /// The session of `Authorization` sends the request.
    func willSend(mayRenew: Bool) { phase.withLock { $0 = mayRenew ? .able : .spent } }

    /// Whether the session that adds `Authorization`, or another one, is to handle a refusal.
    func concerns(sessionOfAuthorization: Bool) -> Bool {
        sessionOfAuthorization || phase.withLock { $0 != .able }
    }
}
