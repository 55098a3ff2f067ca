public import Errand
public import ErrandEssentials

/// An entry that can't be sent as it is. Its lane waits until the outbox's handler decides what to do.
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
    /// The reason why an entry wasn't sent. More cases may be added, so write a `default`.
    public enum Reason: Sendable, Hashable {
        /// The server, a check, a filter, or the decoder rejected it. See ``OutboxRefusal/error``.
        case failed
        /// A different user is signed in now than when the entry was enqueued. The request wasn't sent.
        case userChanged
        /// The entry is older than its maximum age.
        case expired
        /// A dependency was dropped, removed, or damaged.
        case dependencyLost
        /// No type is registered under the entry's name.
        case unknownType
        /// The stored value doesn't decode as the type that is registered now.
        case decodingFailed
    }

    /// The entry that was refused.
    public let entry: OutboxEntry
    /// Why the entry was refused.
    public let reason: Reason
    /// The request, or `nil` if its type is unknown or decoding failed.
    public let request: (any OutboxRequest)?
    /// The stored request as JSON. An earlier version of your app may have written it.
    public let value: Data
    /// The error with which the request failed, or with which the stored request couldn't be decoded. Nil if the entry was
    /// refused without an error.
    public let error: (any Error)?

    /// The response that the request failed with, if any.
    public var response: HTTPResponse? { (error as? any RequestFailure)?.response }

    /// The default decision: drops expired entries, and stops the lane of all others.
    public var standardDecision: OutboxDecision { reason == .expired ? .drop : .stop }
}

/// What happens to a refused entry.
public enum OutboxDecision: Sendable {
    /// Removes the entry. Entries that depend on it are refused when their turn comes.
    case drop
    /// Sends this request instead, in the same lane, with a new `Idempotency-Key` and without dependencies.
    case edit(any OutboxRequest)
    /// Sends the entry again after this time, or after the backoff if that is longer.
    case retry(after: Duration = .zero)
    /// Stops the lane until you call ``Outbox/resume(lane:)``, remove or replace the entry, or open the outbox again.
    case stop
}
