public import Errand
public import ErrandEssentials

/// An entry that cannot be sent as it is; the handler of the outbox decides what becomes of it. Its lane waits for
/// that.
///
/// ```swift
/// let outbox = try await agent.outbox(at: directory, sending: types) { refusal in
///     if refusal.response?.status == 409 { return .drop }
///     if let comment = refusal.request as? PostComment { return .edit(PostComment(thread: comment.thread, text: "")) }
///     return .stop
/// }
/// ```
///
/// A process that ends before the decision is stored asks again after its next start.
public struct OutboxRefusal: Sendable {
    /// Why an entry is not sent. Cases may be added: write a `default`.
    public enum Reason: Sendable, Hashable {
        /// The server, a check, a filter or the decoder refused; see ``OutboxRefusal/error``.
        case failed
        /// Another user is signed in than the one who enqueued it. Nothing was sent.
        case userChanged
        /// It is older than its maximum age.
        case expired
        /// An entry that it was enqueued after was dropped, removed or damaged.
        case dependencyLost
        /// No type is registered under its name.
        case unknownType
        /// Its stored value does not decode as the type that is registered now.
        case decodingFailed
    }

    /// The entry.
    public let entry: OutboxEntry
    /// Why it is not sent.
    public let reason: Reason
    /// The request; nil for an unknown type, and where decoding failed.
    public let request: (any OutboxRequest)?
    /// The stored value of the request, as JSON, such as one of an earlier version of the app.
    public let value: Data
    /// The error of the request, or that of decoding.
    public let error: (any Error)?

    /// The response that the request failed with, if there was one.
    public var response: HTTPResponse? { (error as? any RequestFailure)?.response }

    /// The decision without a handler: an expired entry is dropped, any other stops its lane.
    public var standardDecision: OutboxDecision { reason == .expired ? .drop : .stop }
}

/// The further treatment of an entry that was refused.
public enum OutboxDecision: Sendable {
    /// The entry is removed. Entries that were enqueued after it are refused in their turn.
    case drop
    /// This request is sent in its place, with a new `Idempotency-Key` and without its dependencies. Its lane stays.
    case edit(any OutboxRequest)
    /// It is sent again after this time, at least that of the backoff.
    case retry(after: Duration = .zero)
    /// Its lane stops until ``Outbox/resume(lane:)``, the removal or the replacement of the entry, or the next opening.
    case stop
}
