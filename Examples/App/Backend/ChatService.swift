import Errand
import ErrandExampleRequests
import ErrandTesting
import Foundation

/// Replies to a question word by word, as server-sent events. The connection breaks once per question; the rest of the
/// reply follows on the next connection.
package final class ChatService: Sendable {
    private struct Question: Decodable { let question: String }

    private let pace: Duration

    init(pace: Duration) { self.pace = pace }

    package static func words(to question: String) -> [String] {
        let count = question.split(separator: " ").count
        let text =
            "You wrote \(count) \(count == 1 ? "word" : "words"). I am a server in the same process, and have no more to say."
        return text.split(separator: " ").map { "\($0) " }
    }

    func reply(_ request: RecordedRequest) throws -> TestResponse {
        let words = Self.words(to: try request.json(Question.self).question)
        let events = try words.enumerated().map { number, word in
            TestEvent(
                String(decoding: try JSONEncoder().encode(Word(word)), as: UTF8.self), name: "word", id: "\(number)")
        }
        var response = TestResponse.resumableEvents(events + ["[DONE]"])
        if pace > .zero { response = response.slowly(bytesPerChunk: 1000, every: pace) }
        return request.headers.contains("Last-Event-ID") ? response : response.closing(afterBodyBytes: 300)
    }
}
