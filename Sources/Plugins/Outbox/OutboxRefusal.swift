public import Errand
public import ErrandEssentials

/// An entry that can't be sent as it is. Its lane waits until the outbox's handler decides.
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
    /// Why an entry wasn't sent. More cases may be added, so write a `default`.
    public enum Reason: Sendable, Hashable {
        /// The server, a check, a filter or the decoder rejected it: see ``OutboxRefusal/error``.
        case failed
        /// Another user has signed in since the entry was enqueued. The request wasn't sent.
        case userChanged
        /// The entry exceeded its maximum age.
        case expired
        /// A dependency was dropped, removed or damaged.
        case dependencyLost
        /// No type is registered under the entry's name.
        case unknownType
        /// The stored value can't be decoded as the registered type.
        case decodingFailed
    }

    /// The refused entry.
    public let entry: OutboxEntry
    /// Why the entry was refused.
    public let reason: Reason
    /// The request. Nil if its type is unknown or decoding failed.
    public let request: (any OutboxRequest)?
    /// The stored request as JSON. An earlier version of your app may have written it.
    public let value: Data
    /// The error of the request, or of decoding it. Nil if the entry was refused without an error.
    public let error: (any Error)?

    /// The response that the request failed with, if there is one.
    public var response: HTTPResponse? { (error as? any RequestFailure)?.response }

    /// The default decision: drops expired entries, and stops the lane of others.
    public var standardDecision: OutboxDecision { reason == .expired ? .drop : .stop }
}

/// What happens to a refused entry.
public enum OutboxDecision: Sendable {
    /// Removes the entry. Entries that depend on it are refused later.
    case drop
    /// Sends this request instead, in the same lane, with a new `Idempotency-Key` and without dependencies.
    case edit(any OutboxRequest)
    /// Sends the entry again after this time, or after the backoff if that is longer.
    case retry(after: Duration = .zero)
    /// Stops the lane until you call ``Outbox/resume(lane:)``, remove or replace the entry, or open the outbox again.
    case stop
}
