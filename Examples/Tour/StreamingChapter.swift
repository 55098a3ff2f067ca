import Errand
import ErrandExampleRequests
import ErrandExampleShop
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting

/// Streams a language model's text word by word, over a connection that breaks in the middle.
enum StreamingChapter {
    static func run(_ shop: Shop) async throws {
        Chapter.begin("Streaming: a text word by word, over a connection that breaks")
        let words = ["The ", "ripest ", "apples ", "are ", "on ", "the ", "left."]
        let events = words.enumerated().map { TestEvent(#"{"text":"\#($1)"}"#, name: "word", id: "\($0)") }
        shop.server.on(.post, "/v1/chat") { request in
            let response = TestResponse.resumableEvents(events + ["[DONE]"])
            let pause = response.slowly(bytesPerChunk: 1000, every: .milliseconds(10))
            return request.headers.contains("Last-Event-ID") ? pause : pause.closing(afterBodyBytes: 150)
        }
        let stream = shop.agent.events(Ask(question: "Which apples are ripe?"), as: Word.types)
        print("   ", terminator: "")
        for try await word in stream { print(word.text, terminator: "") }
        print()
        let last = shop.server.received.compactMap { $0.headers["Last-Event-ID"] }.last ?? "none"
        Chapter.line("the connection broke after word \(last), and the stream continued with the next one")
        shop.server.on(.get, "/v1/log", .text("packed\nshipped\n"))
        for try await line in shop.agent.lines(Call(.get, "log")) { Chapter.line(line) }
        Chapter.end()
    }
}
