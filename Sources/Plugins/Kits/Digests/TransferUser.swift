package import ErrandHTTP
import Synchronization

/// Whose a transfer is that outlives its process: the user in its record, or else the one of its first request.
package final class TransferUser: Sendable {
    private struct State {
        /// The user in the record; nil for a transfer that begins.
        var expected: UserStamp?
        /// The marks that the newest stamp was made of, and that stamp.
        var newest: (marks: Set<UserMark>, stamp: UserStamp)?
    }

    private let state = Mutex(State())

    package init() {}

    /// The transfer continues what this user has begun; nil for one that begins.
    package func expect(_ stamp: UserStamp?) { state.withLock { $0 = State(expected: stamp) } }

    /// Throws ``AnotherUser`` unless a request with these marks is of the user who has begun.
    package func check(_ marks: Set<UserMark>) throws {
        guard let expected = state.withLock({ $0.expected }), !expected.matches(marks.identities) else { return }
        throw AnotherUser()
    }

    /// The user for the record, of the marks that the transfer's requests have; the one of the record before there is a
    /// request.
    package func stamp(of marks: Set<UserMark>?) -> UserStamp? {
        state.withLock { state in
            guard let marks else { return state.expected }
            if let newest = state.newest, newest.marks == marks { return newest.stamp }
            // The same stamp while it fits, so that a record changes only with its user's credential.
            let known = state.expected.flatMap { $0.matches(marks.identities) ? $0 : nil }
            let stamp = known ?? UserStamp(marks.identities)
            state.newest = (marks, stamp)
            return stamp
        }
    }
}

/// A transfer was begun by another user than the one whose request was about to be sent.
package struct AnotherUser: Error {
    package init() {}
}

extension Set<UserMark> {
    fileprivate var identities: [UserStamp.Identity] { map { ($0.source, $0.identity) } }
}
