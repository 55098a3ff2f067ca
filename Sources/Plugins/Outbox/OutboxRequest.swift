public import Errand
import ErrandEssentials

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
/// The outbox stores the `Codable` value. It builds the HTTP request for each attempt, so attempts use the current
/// token, signature and environment.
///
/// Stored properties are written to disk unencrypted, so don't put secrets in them. Computed properties aren't stored,
/// including headers.
public protocol OutboxRequest: Request, Codable {
    /// The request's lane. Entries of a lane are sent one after the other, oldest first. Different lanes are sent
    /// concurrently. Defaults to an empty string, a lane that all requests without a lane share.
    var outboxLane: String { get }
    /// A key for replacing an older entry. A new entry replaces an unsent one with the same type, lane and key.
    /// Defaults to nil: doesn't replace an entry.
    var replacementKey: String? { get }
    /// The maximum age of the entry. After that, the outbox's handler decides. Defaults to nil:
    /// ``OutboxOptions/maximumAge``.
    var outboxMaximumAge: Duration? { get }
    /// Returns the request to send when this request replaces an older one. Defaults to this request.
    func merging(_ older: Self) -> Self
}

extension OutboxRequest {
    /// An empty string.
    public var outboxLane: String { "" }
    /// Nil.
    public var replacementKey: String? { nil }
    /// Nil.
    public var outboxMaximumAge: Duration? { nil }
    /// Returns this request.
    public func merging(_ older: Self) -> Self { self }
}

/// A request type that an ``Outbox`` sends, and the name stored with its entries.
///
/// ```swift
/// let outbox = try await agent.outbox(at: directory, sending: [
///     .type("comment", PostComment.self) { sent in print(sent.entry.id, sent.response.value) },
///     .type("draft", SaveDraft.self),
/// ])
/// ```
///
/// The name must stay the same in all versions of your app. You can rename the type.
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
    ///   - sent: Receives each response before the entry is removed. If the app is killed in between, the outbox sends
    ///     the request again with the same key, and delivers the response again.
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

/// A request that the outbox sent, and its response.
public struct OutboxDelivery<R: OutboxRequest>: Sendable {
    /// The sent entry. It's removed after the closure returns.
    public let entry: OutboxEntry
    /// The sent request.
    public let request: R
    /// The response, with its decoded output.
    public let response: Response<R.Output>
}
