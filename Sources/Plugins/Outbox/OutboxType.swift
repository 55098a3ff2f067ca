public import Errand
import ErrandEssentials

/// A type of request that an ``Outbox`` sends, under the name that is stored with each entry.
///
/// ```swift
/// let outbox = try await agent.outbox(at: directory, sending: [
///     .type("comment", PostComment.self) { sent in print(sent.entry.id, sent.response.value) },
///     .type("draft", SaveDraft.self),
/// ])
/// ```
///
/// The name outlives versions of the app: a type may be renamed, its name here may not.
public struct OutboxType: Sendable {
    let name: String
    let identity: ObjectIdentifier
    let decode: @Sendable (Data) throws -> any OutboxRequest
    let deliver: @Sendable (any OutboxRequest, OutboxEntry, ScopedAgent, CallOptions) async throws -> Void

    /// Registers a type.
    ///
    /// - Parameters:
    ///   - name: unique among the types of an outbox, and the same in all versions of an app.
    ///   - type: the type of the requests.
    ///   - sent: receives each response, before the entry is removed: an app that is killed in between sends the
    ///     request once more, with the same key, and receives the response again.
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

/// A request of an outbox that was sent, with its response.
public struct OutboxDelivery<R: OutboxRequest>: Sendable {
    /// The entry, which is removed next.
    public let entry: OutboxEntry
    /// The request.
    public let request: R
    /// The decoded response.
    public let response: Response<R.Output>
}
