public import Errand
import ErrandEssentials

/// A request that an ``Outbox`` stores until a server has received it.
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
/// The outbox stores the request's `Codable` value. For each attempt, the outbox builds a new HTTP request from this
/// value, so the attempt uses the current token, signature and environment.
///
/// Stored properties are written to disk unencrypted, so don't put secrets in them. Computed properties, such as
/// headers, aren't stored.
public protocol OutboxRequest: Request, Codable {
    /// The name of the request's lane. Entries in the same lane are sent one after another, oldest first. Different
    /// lanes are sent concurrently. Defaults to an empty string, so all requests without a name share a lane.
    var outboxLane: String { get }
    /// A key with which a request replaces an older request. If the outbox contains an unsent entry with the same type,
    /// lane and key, a new request replaces this entry. Defaults to nil, which never replaces an entry.
    var replacementKey: String? { get }
    /// The maximum age of the entry. If the entry isn't sent by then, the outbox's handler decides about it. Defaults
    /// to nil, which uses ``OutboxOptions/maximumAge``.
    var outboxMaximumAge: Duration? { get }
    /// Returns the request to send if this request replaces an older request. Defaults to returning this request. If
    /// the returned request is too large, `enqueue` throws, and the older entry stays.
    func merging(_ older: Self) -> Self
}

extension OutboxRequest {
    /// Returns an empty string.
    public var outboxLane: String { "" }
    /// Returns nil.
    public var replacementKey: String? { nil }
    /// Returns nil.
    public var outboxMaximumAge: Duration? { nil }
    /// Returns this request.
    public func merging(_ older: Self) -> Self { self }
}

/// A request type that an ``Outbox`` can send, and the name that is stored with its entries.
///
/// ```swift
/// let outbox = try await agent.outbox(at: directory, sending: [
///     .type("comment", PostComment.self) { sent in print(sent.entry.id, sent.response.value) },
///     .type("draft", SaveDraft.self),
/// ])
/// ```
///
/// The name must be the same in all versions of your app. The type itself can be renamed.
public struct OutboxType: Sendable {
    let name: String
    let identity: ObjectIdentifier
    let decode: @Sendable (Data) throws -> any OutboxRequest
    let deliver: @Sendable (any OutboxRequest, OutboxEntry, ScopedAgent, CallOptions) async throws -> Void

    /// Registers a request type.
    ///
    /// - Parameters:
    ///   - name: A name that is unique within the outbox and the same in all versions of your app.
    ///   - type: The type of the requests.
    ///   - sent: Receives each response before the outbox removes the entry. If the app is killed in between, the
    ///     outbox sends the request again with the same key, and this closure receives the response again.
    public static func type<R: OutboxRequest>(
        _ name: String, _ type: R.Type, sent: @escaping @Sendable (OutboxDelivery<R>) async -> Void = { _ in }
    ) -> OutboxType {
        OutboxType(
            name: name, identity: ObjectIdentifier(R.self), decode: { try JSONDecoder().decode(R.self, from: $0) },
            deliver: { request, entry, agent, options in
                guard let request = request as? R else { return }
                let response = try await agent.send(request, options: options)
                await sent(OutboxDelivery(entry: entry, request: request, response: response))
            })
    }

    static func encode(_ request: some OutboxRequest) throws(OutboxError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return try encoder.encode(request) } catch {
            throw OutboxError(.encodingFailed, "the request cannot be encoded: \(error.briefDescription)")
        }
    }
}

/// A request that an outbox has sent, with its response.
public struct OutboxDelivery<R: OutboxRequest>: Sendable {
    /// The entry that was sent. The outbox removes it after the closure has returned.
    public let entry: OutboxEntry
    /// The request that was sent.
    public let request: R
    /// The server's response, with its decoded output.
    public let response: Response<R.Output>
}
