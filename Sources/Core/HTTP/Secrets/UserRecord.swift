import Synchronization

package protocol UserRecording: AnyObject, Sendable {
    func add(_ marks: Set<UserMark>)
}

/// Records the users whose requests were sent for a response. `Exchange.recordingUsers()` creates it, for filters that
/// store responses.
public final class UserRecord: UserRecording {
    private let state = Mutex<Set<UserMark>?>(nil)
    private let outer: (any UserRecording)?

    package init(within outer: (any UserRecording)? = nil) { self.outer = outer }

    /// The marks of all requests that were sent; `nil` if no request was sent.
    public var marks: Set<UserMark>? { state.withLock { $0 } }

    package func add(_ marks: Set<UserMark>) { state.withLock { $0 = $0?.union(marks) ?? marks } }

    /// Adds the marks to the record of the exchange that this record was created from. Call it only if the response is
    /// used, not if another request replaces it.
    public func commit() {
        if let marks, let outer { outer.add(marks) }
    }
}
