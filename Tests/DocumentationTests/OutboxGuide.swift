// The code of docs/outbox.md.
import Errand
import ErrandOutbox
import ErrandTesting
import Foundation
import Testing

nonisolated struct Comment: Codable, Sendable {
    let id: Int
}

struct PostComment: OutboxRequest {
    typealias Output = Comment
    let thread: Int
    let text: String

    var method: HTTPMethod { .post }
    var path: String { "threads/\(thread)/comments" }
    var body: RequestBody { .json(["text": text]) }
    var outboxLane: String { "thread \(thread)" }
}

struct SendPhoto: OutboxRequest {
    typealias Output = Void
    let file: String
}

struct SaveDraft: OutboxRequest {
    typealias Output = Void
    let id: Int
    let text: String
    var method: HTTPMethod { .put }
    var path: String { "drafts/\(id)" }
    var body: RequestBody { .json(["text": text]) }
    var replacementKey: String? { "\(id)" }
}

struct AddToCart: OutboxRequest {
    typealias Output = Void
    let item: Int
    var count = 1
    var method: HTTPMethod { .post }
    var path: String { "cart/\(item)" }
    var body: RequestBody { .json(["count": count]) }
    var replacementKey: String? { "\(item)" }

    func merging(_ older: AddToCart) -> AddToCart { AddToCart(item: item, count: count + older.count) }
}

private actor Comments {
    func confirm(_ id: OutboxEntry.ID, _ comment: Comment) {}
}

private func enqueue(_ agent: NetworkAgent, directory: URL, name: String) async throws {
    let outbox = try await agent.outbox(at: directory, sending: [.type("comment", PostComment.self)])
    try await outbox.enqueue(PostComment(thread: 7, text: "Hello"))

    let photo = try await outbox.enqueue(SendPhoto(file: name))
    try await outbox.enqueue(PostComment(thread: 7, text: "Look"), after: photo)
}

private func respond(_ agent: NetworkAgent, directory: URL, comments: Comments) async throws {
    let outbox = try await agent.outbox(
        at: directory,
        sending: [
            .type("comment", PostComment.self) { sent in await comments.confirm(sent.entry.id, sent.response.value) },
            .type("photo", SendPhoto.self),
        ])
    await outbox.close()
}

private func decide(_ agent: NetworkAgent, directory: URL, types: [OutboxType]) async throws {
    let outbox = try await agent.outbox(at: directory, sending: types) { refusal in
        switch (refusal.reason, refusal.request) {
        case (.failed, let comment as PostComment) where refusal.response?.status == 422:
            .edit(PostComment(thread: comment.thread, text: String(comment.text.prefix(500))))
        case (.failed, _) where refusal.response?.status == 409: .drop
        case (.expired, _): .drop
        default: .stop
        }
    }
    await outbox.close()
}

private func options(_ agent: NetworkAgent, directory: URL, types: [OutboxType]) async throws {
    let options = OutboxOptions(backoff: Backoff(base: .seconds(5), maximumDelay: .seconds(600)))
    let outbox = try await agent.outbox(at: directory, sending: types, options: options)
    await outbox.close()
}

private func screen(_ outbox: Outbox, show: ([String]) -> Void) async throws {
    for await state in outbox.states {
        show(state.entries.map { entry in "\(entry.name): \(entry.state), \(entry.lastError ?? "")" })
    }
}

@Suite("The guide of the outbox", .endsInTime, .leakChecked) struct OutboxGuideTests {
    @Test("a request that fails without a network is sent again with the same key")
    func offline() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let (time, stub) = (ManualTimeSource(), StubTransport())
        let offline = StubResponse.failure(ErrandError(.cannotConnect, "no network"))
        stub.on(.post, "/threads/7/comments", response: offline, .json(#"{"id":1}"#))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let types = [OutboxType.type("comment", PostComment.self)]
        let outbox = try await agent.outbox(at: directory, sending: types, time: time)

        try await outbox.enqueue(PostComment(thread: 7, text: "Hello"))
        for await state in outbox.states where state.entries.contains(where: { $0.failures == 1 }) { break }
        time.advance(by: .seconds(60))
        for await state in outbox.states where state.entries.isEmpty { break }

        let keys = stub.received.map { $0.headers["Idempotency-Key"] }
        #expect(keys.count == 2 && keys[0] == keys[1])
        await outbox.close()
    }
}
