package import Errand
import ErrandExampleRequests
import ErrandStreaming
import Observation

/// A chat that shows replies while they are being written.
@Observable package final class ChatModel {
    package struct Message: Identifiable, Equatable {
        package let id: Int
        package let isMine: Bool
        package var text: String
    }

    /// The messages so far. The last one may still grow.
    package private(set) var messages: [Message] = []
    /// The text to send next.
    package var draft = ""
    package private(set) var isReplying = false
    /// A message about the last failure.
    package private(set) var failure: String?
    /// The current reply, or the last one.
    @ObservationIgnored package private(set) var task: Task<Void, Never>?
    @ObservationIgnored private let agent: NetworkAgent

    package init(_ agent: NetworkAgent) { self.agent = agent }

    /// Sends the draft, and shows the reply as it arrives.
    package func send() {
        if isReplying || draft.isEmpty { return }
        let question = draft
        (draft, failure, isReplying) = ("", nil, true)
        add(question, isMine: true)
        add("", isMine: false)
        task = Task { [agent, weak self] in
            do {
                for try await word in agent.events(Ask(question: question), as: Word.types) { self?.append(word.text) }
            } catch {
                self?.failure = error.sentence
            }
            self?.isReplying = false
        }
    }

    /// Stops the reply, keeping the words received so far.
    package func stop() { task?.cancel() }

    private func add(_ text: String, isMine: Bool) {
        messages.append(Message(id: messages.count, isMine: isMine, text: text))
    }

    private func append(_ text: String) { messages[messages.count - 1].text += text }
}
