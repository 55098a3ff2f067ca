public import Errand

/// A request that an ``Outbox`` keeps until a server has received it: its `Codable` value is stored, and the request is
/// built anew when it is sent, with the token, the signature and the environment of that moment.
///
/// ```swift
/// struct PostComment: OutboxRequest {
///     typealias Output = Comment
///     let thread: Int
///     let text: String
///
///     var method: HTTPMethod { .post }
///     var path: String { "threads/\(thread)/comments" }
///     var body: RequestBody { .json(["text": text]) }
///     var outboxLane: String { "thread \(thread)" }
/// }
/// ```
///
/// Stored properties are written to the disk in the clear, so they hold no secret. Computed ones are not stored: no
/// header is, unless a stored property holds it.
public protocol OutboxRequest: Request, Codable {
    /// Entries of a lane are sent one after the other, the oldest first; lanes are sent side by side. Empty by default:
    /// one lane for all that have none of their own.
    var outboxLane: String { get }
    /// An entry replaces the one of the same type, lane and key that has not been sent yet, in its place. Nil by
    /// default: nothing is replaced.
    var replacementKey: String? { get }
    /// How long the entry is worth sending; after that the outbox's handler decides. Nil by default: as
    /// ``OutboxOptions/maximumAge`` says.
    var outboxMaximumAge: Duration? { get }
    /// Returns the request that is sent instead of both, where this one replaces an older one; itself by default.
    func merging(_ older: Self) -> Self
}

extension OutboxRequest {
    /// Empty.
    public var outboxLane: String { "" }
    /// Nil.
    public var replacementKey: String? { nil }
    /// Nil.
    public var outboxMaximumAge: Duration? { nil }
    /// The request itself.
    public func merging(_ older: Self) -> Self { self }
}
