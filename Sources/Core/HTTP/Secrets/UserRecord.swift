import Synchronization

/// Records the users whose requests are sent.
package protocol UserRecording: AnyObject, Sendable {
    func add(_ marks: Set<UserMark>)
}

/// The users whose requests were sent for a response; made by `Exchange.recordingUsers()`, for a filter that stores
/// responses.
public final class UserRecord: UserRecording {
    private let state = Mutex<Set<UserMark>?>(nil)
    private let outer: (any UserRecording)?

    package init(within outer: (any UserRecording)? = nil) { self.outer = outer }

    /// The marks of all requests that were sent; nil if none was sent.
    public var marks: Set<UserMark>? { state.withLock { $0 } }

    /// Adds the marks of one request.
    package func add(_ marks: Set<UserMark>) { state.withLock { $0 = $0?.union(marks) ?? marks } }

    /// Adds the recorded marks to the record of the exchange that this one was made from. Call it for a response that
    /// is used, not for one that another request replaces.
    public func commit() {
        if let marks, let outer { outer.add(marks) }
    }
}
