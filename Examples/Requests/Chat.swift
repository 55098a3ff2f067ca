package import Errand
package import ErrandStreaming

/// A question that is answered word by word. If the connection breaks, the stream resumes after the last word.
package struct Ask: EventRequest {
    package let question: String
    package var method: HTTPMethod { .post }
    package var path: String { "chat" }
    package var body: RequestBody { .json(["question": question]) }
    package var eventOptions: EventOptions {
        EventOptions(reconnection: ReconnectionPolicy(backoff: Backoff(base: .milliseconds(100))))
    }

    package init(question: String) { self.question = question }
}

/// A piece of a reply.
package struct Word: Codable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// A reply's events, and the event that ends it.
    package static let types = EventTypes<Word>().on("word") { $0 }.ending(at: "[DONE]")
}
