import Errand
import ErrandExampleShop
import ErrandOutbox
import ErrandSystemTransport
import ErrandTesting
import Foundation

/// Queues comments while offline, in an app that exits before the network returns.
enum OutboxChapter {
    private struct PostComment: OutboxRequest {
        typealias Output = String
        let text: String
        var method: HTTPMethod { .post }
        var path: String { "comments" }
        var body: RequestBody { .text(text) }
    }

    /// A row for a screen: the content, read from the disk, and the entry's progress.
    private static func row(_ entry: OutboxEntry, _ outbox: Outbox) async throws -> String {
        let text = try await outbox.request(PostComment.self, of: entry.id)?.text ?? entry.name
        return switch entry.state {
        case .sending: "\(text): is being sent"
        case .delayed: "\(text): is sent again soon (\(entry.lastError ?? ""))"
        case .stopped: "\(text): was refused (\(entry.lastError ?? ""))"
        default: "\(text): waits"
        }
    }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("An outbox: written without a network, sent after the next start")
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-outbox-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let types: [OutboxType] = [
            .type("comment", PostComment.self) { Chapter.line("  the server has \($0.response.value)") }
        ]

        let nowhere = NetworkAgent(
            baseURL: "https://shop.example", transport: .stub(.failure(ErrandError(.cannotConnect, "no network"))))
        let offline = try await nowhere.outbox(at: directory, sending: types)
        for text in ["one", "two", "three"] { try await offline.enqueue(PostComment(text: text)) }
        Chapter.line("\(offline.state.entries.count) comments wait on the disk; a screen shows")
        for await state in offline.states where state.entries.first?.lastError != nil {
            for entry in state.entries { Chapter.line("  " + (try await row(entry, offline))) }
            break
        }
        await offline.close()

        let server = try TestServer()
        server.on("/comments", .echoBody)
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let online = try await agent.outbox(at: directory, sending: types)
        for await state in online.states where state.entries.isEmpty { break }
        let keys = Set(server.received.compactMap { $0.headers[.idempotencyKey] })
        Chapter.line("the outbox is empty; \(keys.count) requests with a key each")
        await online.close()
        Chapter.end()
    }
}
