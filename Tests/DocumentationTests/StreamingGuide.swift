// The code of docs/streaming.md.
import Errand
import ErrandStreaming

private nonisolated struct Row: Decodable, Sendable {}

private struct GetFeed: EventRequest {
    var path: String { "feed" }
    var eventOptions: EventOptions { .reconnecting }
}

private func events(_ agent: NetworkAgent) async throws {
    for try await event in agent.events(GetFeed()) {
        print(event.name, event.data)
    }
}

private func values(_ agent: NetworkAgent, insert: (Row) -> Void) async throws {
    for try await line in agent.lines(Call(.get, "jobs/7/log")) { print(line) }

    for try await row in agent.jsonElements(Call(.get, "export"), of: Row.self) { insert(row) }
}

private func failures(_ agent: NetworkAgent, insert: (Row) -> Void) async throws {
    var rows = agent.jsonLines(Call(.get, "rows"), of: Row.self).makeAsyncIterator()
    while true {
        do {
            guard let row = try await rows.next() else { break }
            insert(row)
        } catch let error as StreamingError where error.code == .decodingFailed {
            print("line \(error.element) is left out")
        }
    }
}

struct Ask: EventRequest {
    let question: String
    var method: HTTPMethod { .post }
    var path: String { "chat" }
    var body: RequestBody { .json(["question": question]) }
}

nonisolated struct Delta: Decodable, Sendable { let text: String }
nonisolated struct Usage: Decodable, Sendable { let tokens: Int }

enum ChatEvent: Sendable {
    case delta(Delta)
    case done(Usage)

    static let types = EventTypes<ChatEvent>()
        .on("delta") { .delta($0) }
        .on("done") { .done($0) }
}

private func typed(_ agent: NetworkAgent) async throws {
    for try await event in agent.events(Ask(question: "Why?"), as: ChatEvent.types) {
        if case .delta(let delta) = event { print(delta.text, terminator: "") }
    }
}

private func reconnecting(_ agent: NetworkAgent, saved: String) {
    let options = EventOptions(
        reconnection: ReconnectionPolicy(backoff: Backoff(base: .seconds(1)), statuses: [502, 503, 504]),
        lastEventID: saved, timeout: .seconds(30))
    let feed = agent.events(Call(.get, "feed"), options)
    _ = feed
}

private func states(_ agent: NetworkAgent, show: @escaping @Sendable (String) -> Void) async throws {
    let feed = agent.events(GetFeed())
    Task {
        for await state in feed.states {
            switch state {
            case .connecting, .idle: show("connecting")
            case .open: show("live")
            case .waiting(_, let error): show(error == nil ? "connecting again" : "connection lost")
            case .closed: show("ended")
            }
        }
    }
    for try await event in feed { show(event.data) }
}
