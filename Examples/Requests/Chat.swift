package import Errand
package import ErrandStreaming

/// A question whose reply comes word by word. After a break the stream continues behind the last word.
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

    /// The events of a reply, and its end.
    package static let types = EventTypes<Word>().on("word") { $0 }.ending(at: "[DONE]")
}
