public import Errand
public import ErrandEssentials

/// An entry that the outbox can't send as it is. The entry's lane waits until the outbox's handler decides.
///
/// ```swift
/// let outbox = try await agent.outbox(at: directory, sending: types) { refusal in
///     if refusal.response?.status == 409 { return .drop }
///     if let comment = refusal.request as? PostComment { return .edit(PostComment(thread: comment.thread, text: "")) }
///     return .stop
/// }
/// ```
///
/// If the process ends before the decision is stored, the handler is asked again after the next start.
public struct OutboxRefusal: Sendable {
    /// The reason why an entry was refused. More cases may be added, so write a `default`.
    public enum Reason: Sendable, Hashable {
        /// The server, a check, a filter or the decoder rejected the request or its response. See
        /// ``OutboxRefusal/error``.
        case failed
        /// Another user has signed in since the entry was enqueued. The request wasn't sent.
        case userChanged
        /// The entry exceeded its maximum age.
        case expired
        /// An entry on which this entry depends was dropped, removed or damaged.
        case dependencyLost
        /// The outbox has no registered type with the entry's name.
        case unknownType
        /// The stored value can't be decoded as the registered type.
        case decodingFailed
    }

    /// The refused entry.
    public let entry: OutboxEntry
    /// The reason why the entry was refused.
    public let reason: Reason
    /// The stored request. It's nil if its type is unknown or decoding failed.
    public let request: (any OutboxRequest)?
    /// The stored request as JSON. An earlier version of your app may have stored it.
    public let value: Data
    /// The error of sending or decoding the request. It's nil if the entry was refused without an error.
    public let error: (any Error)?

    /// The response that made the request fail, if there was a response.
    public var response: HTTPResponse? { (error as? any RequestFailure)?.response }

    /// The default decision. It drops expired entries. For all other entries, it stops the lane.
    public var standardDecision: OutboxDecision { reason == .expired ? .drop : .stop }
}

/// A handler's decision about a refused entry.
public enum OutboxDecision: Sendable {
    /// Removes the entry. Entries that depend on it are refused when it's their turn.
    case drop
    /// Sends this request instead of the entry, in the same lane. The request gets a new `Idempotency-Key` and doesn't
    /// have dependencies. If the request doesn't fit in the outbox, the entry stays as it was, and its lane stops.
    case edit(any OutboxRequest)
    /// Sends the entry again after this time, or after the backoff if the backoff is longer.
    case retry(after: Duration = .zero)
    /// Stops the lane until you call ``Outbox/resume(lane:)``, remove or replace the entry, or open the outbox again.
    case stop
}
