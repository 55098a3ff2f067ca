import Errand
import ErrandExampleShop
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting

/// Retries against three servers: the first fails briefly, the second asks for a pause, and the third is down.
enum RetryChapter {
    static func run(_ shop: Shop) async throws {
        Chapter.begin("Resilience in one line: .standardResilience")
        let server = try TestServer()
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system,
            filters: [.standardResilience { $0.retry.backoff = Backoff(base: .milliseconds(20)) }],
            accessories: [RetryLines()])

        server.on("/hiccup", .text("well again"))
        server.enqueue(.status(503), .status(502))
        Chapter.line("a server that fails twice: \(try await agent.send(GetText(path: "hiccup")).value)")

        server.on("/down", .status(500))
        for _ in 0..<20 { _ = try? await agent.send(GetText(path: "down")) }
        do { _ = try await agent.send(GetText(path: "down")) } catch let error as ResilienceError {
            Chapter.line("a server that is down: \(error.code) after \(server.requestCount) requests in all")
        }
        Chapter.end()
    }
}

/// Prints the retry filter's notes.
private struct RetryLines: Accessory {
    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .note(let note) = event, let retry = note.details as? RetryNote,
            (activity.request as? GetText)?.path == "hiccup"
        else { return }
        Chapter.line("  attempt \(retry.attempt) follows: \(retry.reason)")
    }
}
