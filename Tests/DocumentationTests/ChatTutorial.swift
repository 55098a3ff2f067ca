// The code that docs/tutorials/chat.md builds, step by step.
import Errand
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

enum ChatTutorial {
    struct Prompt: EventRequest {
        let text: String
        var method: HTTPMethod { .post }
        var path: String { "chat" }
        var body: RequestBody { .json(["prompt": text]) }
    }

    nonisolated struct Piece: Decodable, Sendable { let text: String }
    nonisolated struct Total: Decodable, Sendable { let tokens: Int }

    enum Reply: Sendable {
        case piece(Piece)
        case total(Total)

        static let types = EventTypes<Reply>()
            .on("piece") { .piece($0) }
            .on("total") { .total($0) }
    }

    @MainActor final class ChatScreen {
        private(set) var text = ""
        private(set) var tokens: Int?
        private let agent: any Agent
        private var task: Task<Void, Never>?

        init(agent: any Agent) { self.agent = agent }

        func ask(_ prompt: String) {
            task?.cancel()
            (text, tokens) = ("", nil)
            task = Task { [weak self, agent] in
                do {
                    for try await event in agent.events(Prompt(text: prompt), as: Reply.types) { self?.add(event) }
                } catch {
                    if !error.isCancellation { self?.text += "\n\(error.localizedDescription)" }
                }
            }
        }

        func stop() { task?.cancel() }

        func finished() async { await task?.value }

        private func add(_ event: Reply) {
            switch event {
            case .piece(let piece): text += piece.text
            case .total(let total): tokens = total.tokens
            }
        }
    }

    struct Notices: EventRequest {
        var path: String { "notices" }
        var eventOptions: EventOptions { .reconnecting }
    }

    @MainActor static func follow(_ agent: any Agent, show: (String) -> Void) async throws {
        for try await notice in agent.events(Notices()) { show(notice.data) }
    }
}

@Suite("The tutorial of a chat", .endsInTime, .leakChecked) struct ChatTutorialTests {
    typealias ChatScreen = ChatTutorial.ChatScreen

    @Test("the pieces of a reply are shown as they arrive, with the total at the end")
    @MainActor func chat() async throws {
        let server = try TestServer()
        server.on(
            .post, "/chat",
            .events(
                TestEvent(#"{"text":"Hello, "}"#, name: "piece"), TestEvent(#"{"text":"Ada."}"#, name: "piece"),
                TestEvent(#"{"tokens":3}"#, name: "total")))
        let screen = ChatScreen(agent: NetworkAgent(baseURL: server.url, transport: .system))
        screen.ask("Who am I?")
        await screen.finished()
        #expect(screen.text == "Hello, Ada." && screen.tokens == 3)
    }
}
