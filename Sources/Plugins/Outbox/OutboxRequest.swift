public import Errand

/// A request that an ``Outbox`` keeps until a server has received it.
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
/// The outbox stores the `Codable` value and builds the HTTP request each time it sends it, so an attempt uses the
/// current token, signature, and environment.
///
/// Stored properties are written to the disk unencrypted, so don't put secrets in them. Computed properties aren't
/// stored, and neither are headers, unless a stored property contains them.
public protocol OutboxRequest: Request, Codable {
    /// The lane of the request. Entries of a lane are sent one after the other, the oldest first; different lanes are
    /// sent concurrently. Defaults to an empty string, a lane that all requests without a lane share.
    var outboxLane: String { get }
    /// A key for replacing an older entry. A new entry takes the place of an unsent entry with the same type, lane, and
    /// key. Defaults to `nil`: doesn't replace anything.
    var replacementKey: String? { get }
    /// The maximum age of the entry. After that, the outbox's handler decides. Defaults to `nil`: uses
    /// ``OutboxOptions/maximumAge``.
    var outboxMaximumAge: Duration? { get }
    /// Returns the request to send when this request replaces an older one. Defaults to this request.
    func merging(_ older: Self) -> Self
}

extension OutboxRequest {
    /// Defaults to an empty string.
    public var outboxLane: String { "" }
    /// Defaults to `nil`.
    public var replacementKey: String? { nil }
    /// Defaults to `nil`.
    public var outboxMaximumAge: Duration? { nil }
    /// Returns this request.
    public func merging(_ older: Self) -> Self { self }
}
